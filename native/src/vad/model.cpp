#include "vad/model.h"

#include "abi/guard.h"
#include "gguf.h"

#include <array>
#include <fstream>
#include <map>
#include <mutex>
#include <vector>

namespace eliza::vad {
namespace {

constexpr size_t       max_file_bytes = 16u << 20;  // the real model is 1.2 MB; more is not this model
constexpr const char * architecture   = "silero-vad";

using Gguf  = std::unique_ptr<gguf_context, void (*)(gguf_context *)>;
using Shape = std::array<int64_t, 3>;

struct Entry {
    const char *   name;
    Shape          shape;
    ggml_tensor ** slot;
};

// What the file must hold, and nothing else: the network is fixed, so every shape is known beforehand.
std::vector<Entry> expected(Weights & w) {
    return {
        {"stft.weight", {256, 1, 258}, &w.stft},
        {"encoder.0.weight", {3, 129, 128}, &w.encoder[0].weight},
        {"encoder.0.bias", {128, 1, 1}, &w.encoder[0].bias},
        {"encoder.1.weight", {3, 128, 64}, &w.encoder[1].weight},
        {"encoder.1.bias", {64, 1, 1}, &w.encoder[1].bias},
        {"encoder.2.weight", {3, 64, 64}, &w.encoder[2].weight},
        {"encoder.2.bias", {64, 1, 1}, &w.encoder[2].bias},
        {"encoder.3.weight", {3, 64, 128}, &w.encoder[3].weight},
        {"encoder.3.bias", {128, 1, 1}, &w.encoder[3].bias},
        {"lstm.input.weight", {128, 512, 1}, &w.lstm_input_weight},
        {"lstm.input.bias", {512, 1, 1}, &w.lstm_input_bias},
        {"lstm.hidden.weight", {128, 512, 1}, &w.lstm_hidden_weight},
        {"lstm.hidden.bias", {512, 1, 1}, &w.lstm_hidden_bias},
        {"head.weight", {1, 128, 1}, &w.head.weight},
        {"head.bias", {1, 1, 1}, &w.head.bias},
    };
}

[[noreturn]] void refuse(const std::string & why) {
    throw Failure(ELIZA_ERR_BUNDLE_INVALID, "the voice activity model cannot be used: " + why);
}

std::vector<char> read_file(const std::filesystem::path & file) {
    std::error_code error;
    const auto      size = std::filesystem::file_size(file, error);
    if (error) {
        refuse("its file cannot be read");
    }
    if (size == 0 || size > max_file_bytes) {
        refuse("its file has " + std::to_string(size) + " bytes");
    }
    std::vector<char> bytes(static_cast<size_t>(size));
    std::ifstream     stream(file, std::ios::binary);
    if (!stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) {
        throw Failure(ELIZA_ERR_FFI_FAULT, "reading the voice activity model failed");
    }
    return bytes;
}

void check_number(const gguf_context * gguf, const char * key, uint32_t wanted) {
    const int64_t id = gguf_find_key(gguf, key);
    if (id < 0 || gguf_get_kv_type(gguf, id) != GGUF_TYPE_UINT32 || gguf_get_val_u32(gguf, id) != wanted) {
        refuse(std::string(key) + " is not " + std::to_string(wanted));
    }
}

void check_header(const gguf_context * gguf) {
    const int64_t id = gguf_find_key(gguf, "general.architecture");
    if (id < 0 || gguf_get_kv_type(gguf, id) != GGUF_TYPE_STRING ||
        std::strcmp(gguf_get_val_str(gguf, id), architecture) != 0) {
        refuse("the file is of another architecture");
    }
    check_number(gguf, "silero-vad.sample_rate", 16000);
    check_number(gguf, "silero-vad.window_samples", 512);
    check_number(gguf, "silero-vad.context_samples", 64);
}

// Where the tensor's bytes begin, after name, type, shape and place were all found right.
const char * locate(const gguf_context * gguf, const std::vector<char> & bytes, const Entry & entry) {
    const int64_t id = gguf_find_tensor(gguf, entry.name);
    if (id < 0) {
        refuse(std::string("tensor ") + entry.name + " is missing");
    }
    const int64_t * ne = gguf_get_tensor_ne(gguf, id);
    if (gguf_get_tensor_type(gguf, id) != GGML_TYPE_F32 || ne[0] != entry.shape[0] || ne[1] != entry.shape[1] ||
        ne[2] != entry.shape[2] || ne[3] != 1) {
        refuse(std::string("tensor ") + entry.name + " has another type or shape");
    }
    const size_t begin = gguf_get_data_offset(gguf) + gguf_get_tensor_offset(gguf, id);
    const size_t size  = gguf_get_tensor_size(gguf, id);
    if (begin > bytes.size() || size > bytes.size() - begin) {
        refuse("the file is cut short");
    }
    return bytes.data() + begin;
}

std::shared_ptr<const Weights> parse(const std::vector<char> & bytes) {
    const gguf_init_params params = {/*.no_alloc =*/true, /*.ctx =*/nullptr};
    const Gguf             gguf(gguf_init_from_buffer(bytes.data(), bytes.size(), params), gguf_free);
    if (gguf == nullptr) {
        refuse("the file is not a GGUF file");
    }
    check_header(gguf.get());

    auto         weights = std::make_shared<Weights>();
    const auto   entries = expected(*weights);
    const size_t slack   = GGML_MEM_ALIGN + ggml_tensor_overhead();
    size_t       size    = slack;
    for (const Entry & entry : entries) {
        size += slack + static_cast<size_t>(entry.shape[0] * entry.shape[1] * entry.shape[2]) * sizeof(float);
    }
    if (gguf_get_n_tensors(gguf.get()) != static_cast<int64_t>(entries.size())) {
        refuse("the file holds other tensors");
    }
    weights->memory.reset(new uint8_t[size]);
    weights->context.reset(ggml_init({size, weights->memory.get(), /*.no_alloc =*/false}));
    if (weights->context == nullptr) {
        throw std::bad_alloc();
    }
    for (const Entry & entry : entries) {
        const char * source = locate(gguf.get(), bytes, entry);
        *entry.slot =
            ggml_new_tensor_3d(weights->context.get(), GGML_TYPE_F32, entry.shape[0], entry.shape[1], entry.shape[2]);
        std::memcpy((*entry.slot)->data, source, ggml_nbytes(*entry.slot));
    }
    return weights;
}

}  // namespace

std::filesystem::path find_model(const std::filesystem::path & bundle_dir) {
    std::error_code                    error;
    std::vector<std::filesystem::path> found;
    const std::filesystem::path        folder = bundle_dir / "vad";
    for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        if (it->path().extension() == ".gguf") {
            found.push_back(it->path());
        }
    }
    if (found.size() != 1) {
        throw Failure(ELIZA_ERR_BUNDLE_INVALID, "the bundle must hold exactly one voice activity model, it holds " +
                                                    std::to_string(found.size()));
    }
    return found.front();
}

std::shared_ptr<const Weights> load_weights(const std::filesystem::path & file) {
    static std::mutex                                                    mutex;
    static std::map<std::filesystem::path, std::weak_ptr<const Weights>> loaded;
    const std::lock_guard<std::mutex>                                    lock(mutex);
    for (auto it = loaded.begin(); it != loaded.end();) {
        it = it->second.expired() ? loaded.erase(it) : std::next(it);
    }
    if (auto found = loaded.find(file); found != loaded.end()) {
        if (auto weights = found->second.lock()) {
            return weights;
        }
    }
    auto weights = parse(read_file(file));
    loaded[file] = weights;
    return weights;
}

}  // namespace eliza::vad
