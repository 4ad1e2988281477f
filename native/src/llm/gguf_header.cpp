#include "llm/gguf_header.h"

#include <cmath>

namespace eliza::llm {

GgufHeader::GgufHeader(const std::filesystem::path & path) : name_("'" + path.u8string() + "'") {
    ggml_context * meta = nullptr;
    gguf_.reset(gguf_init_from_file(path.u8string().c_str(), {/*.no_alloc =*/true, /*.ctx =*/&meta}));
    tensors_.reset(meta);
    if (gguf_ == nullptr) {
        refuse("is not a readable GGUF file");
    }
}

void GgufHeader::refuse(const std::string & why, int status) const {
    throw Failure(status, name_ + " " + why);
}

void GgufHeader::refuse_type(const ggml_tensor & tensor) const {
    refuse(std::string("has a tensor of type ") + ggml_type_name(tensor.type) + ": " + tensor.name);
}

bool GgufHeader::flag(const std::string & key) const {
    const int64_t id = find(key, GGUF_TYPE_BOOL);
    return id >= 0 && gguf_get_val_bool(gguf_.get(), id);
}

std::string GgufHeader::text(const std::string & key) const {
    const int64_t id = find(key, GGUF_TYPE_STRING);
    return id < 0 ? "" : gguf_get_val_str(gguf_.get(), id);
}

int64_t GgufHeader::number(const std::string & key, int64_t least, int64_t most, int64_t absent) const {
    const int64_t id    = find(key, GGUF_TYPE_UINT32);
    const int64_t value = id < 0 ? absent : gguf_get_val_u32(gguf_.get(), id);
    if (value < least || value > most) {
        refuse(value < 0 ? "lacks " + key : "says " + std::to_string(value) + " for " + key);
    }
    return value;
}

void GgufHeader::check_epsilon(const std::string & key) const {
    const int64_t id    = find(key, GGUF_TYPE_FLOAT32);
    const float   value = id < 0 ? 0.0f : gguf_get_val_f32(gguf_.get(), id);
    if (!std::isfinite(value) || value < 0.0f) {
        refuse("says " + std::to_string(value) + " for " + key);
    }
}

std::vector<int64_t> GgufHeader::numbers(const std::string & key) const {
    const int64_t id = gguf_find_key(gguf_.get(), key.c_str());
    if (id < 0 || gguf_get_kv_type(gguf_.get(), id) != GGUF_TYPE_ARRAY) {
        return id < 0 ? std::vector<int64_t>() : std::vector<int64_t>{number(key, 0, UINT32_MAX)};
    }
    const gguf_type type = gguf_get_arr_type(gguf_.get(), id);
    if (type != GGUF_TYPE_UINT32 && type != GGUF_TYPE_INT32) {
        refuse("has " + key + " as a list of " + gguf_type_name(type));
    }
    const auto *         data = static_cast<const int32_t *>(gguf_get_arr_data(gguf_.get(), id));
    std::vector<int64_t> values(data, data + gguf_get_arr_n(gguf_.get(), id));
    return values;
}

int64_t GgufHeader::find(const std::string & key, gguf_type type) const {
    const int64_t id = gguf_find_key(gguf_.get(), key.c_str());
    if (id >= 0 && gguf_get_kv_type(gguf_.get(), id) != type) {
        refuse("has " + key + " in another type than " + gguf_type_name(type));
    }
    return id;
}

}  // namespace eliza::llm
