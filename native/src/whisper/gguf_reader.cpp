#include "whisper/gguf_reader.h"

#include "whisper/model.h"

namespace eliza::whisper {

int64_t GgufReader::find(const std::string & key, gguf_type type) const {
    const int64_t id = gguf_find_key(gguf_, key.c_str());
    if (id < 0 || gguf_get_kv_type(gguf_, id) != type) {
        refuse_model("'" + key + "' is missing or of another type");
    }
    return id;
}

int64_t GgufReader::find_array(const std::string & key, gguf_type type, size_t most_items) const {
    const int64_t id = find(key, GGUF_TYPE_ARRAY);
    if (gguf_get_arr_type(gguf_, id) != type) {
        refuse_model("'" + key + "' is an array of another type");
    }
    const size_t count = gguf_get_arr_n(gguf_, id);
    if (count == 0 || count > most_items) {
        refuse_model("'" + key + "' has " + std::to_string(count) + " items");
    }
    return id;
}

std::string GgufReader::text(const std::string & key) const {
    return gguf_get_val_str(gguf_, find(key, GGUF_TYPE_STRING));
}

int GgufReader::number(const std::string & key, int least, int most) const {
    const uint32_t value = gguf_get_val_u32(gguf_, find(key, GGUF_TYPE_UINT32));
    if (value < static_cast<uint32_t>(least) || value > static_cast<uint32_t>(most)) {
        refuse_model("'" + key + "' is " + std::to_string(value));
    }
    return static_cast<int>(value);
}

std::vector<int> GgufReader::numbers(const std::string & key, size_t most_items, int least, int most) const {
    const int64_t    id   = find_array(key, GGUF_TYPE_INT32, most_items);
    const auto *     data = static_cast<const int32_t *>(gguf_get_arr_data(gguf_, id));
    std::vector<int> values(data, data + gguf_get_arr_n(gguf_, id));
    for (const int value : values) {
        if (value < least || value > most) {
            refuse_model("'" + key + "' holds " + std::to_string(value));
        }
    }
    return values;
}

std::vector<std::string> GgufReader::texts(const std::string & key, size_t most_items) const {
    const int64_t            id = find_array(key, GGUF_TYPE_STRING, most_items);
    std::vector<std::string> values(gguf_get_arr_n(gguf_, id));
    for (size_t i = 0; i < values.size(); ++i) {
        values[i] = gguf_get_arr_str(gguf_, id, i);
    }
    return values;
}

}  // namespace eliza::whisper
