// Vulkan headers before 1.3.274 lack VK_EXT_layer_settings, which llama.cpp names for its validation layer, off unless
// it is built with checks. These few types stand in for them, with the layouts of the extension's specification.
#pragma once

#include <vulkan/vulkan_core.h>

#ifndef VK_EXT_layer_settings

#include <cstdint>
#include <vector>

namespace vk {

enum class LayerSettingTypeEXT : int32_t { eBool32 = 0 };

struct LayerSettingEXT {
    const char *        layer;
    const char *        setting;
    LayerSettingTypeEXT type;
    uint32_t            count;
    const void *        values;
};

struct LayerSettingsCreateInfoEXT {
    explicit LayerSettingsCreateInfoEXT(const std::vector<LayerSettingEXT> & all)
        : count(static_cast<uint32_t>(all.size())), settings(all.data()) {}

    int32_t                 structure_type = 1000496000;
    const void *            next           = nullptr;
    uint32_t                count;
    const LayerSettingEXT * settings;
};

}  // namespace vk

#endif
