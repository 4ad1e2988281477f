#include "kokoro/model.h"

#include "abi/guard.h"
#include "ggml-backend.h"
#include "gguf.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <numeric>

namespace eliza::kokoro {
namespace {

constexpr const char * architecture  = "kokoro";
constexpr uint64_t     max_file_size = 2ull << 30;  // the f32 file has 327 MB

using Gguf = std::unique_ptr<gguf_context, void (*)(gguf_context *)>;

int64_t find_key(const gguf_context * gguf, const std::string & key, gguf_type type) {
    const int64_t id = gguf_find_key(gguf, key.c_str());
    if (id < 0 || gguf_get_kv_type(gguf, id) != type) {
        refuse_model("'" + key + "' is missing or of another type");
    }
    return id;
}

int number(const gguf_context * gguf, const std::string & key, int least, int most) {
    const std::string full  = std::string(architecture) + "." + key;
    const uint32_t    value = gguf_get_val_u32(gguf, find_key(gguf, full, GGUF_TYPE_UINT32));
    if (value < static_cast<uint32_t>(least) || value > static_cast<uint32_t>(most)) {
        refuse_model("'" + full + "' is " + std::to_string(value));
    }
    return static_cast<int>(value);
}

int64_t find_array(const gguf_context * gguf, const std::string & full, gguf_type type) {
    const int64_t id = find_key(gguf, full, GGUF_TYPE_ARRAY);
    if (gguf_get_arr_type(gguf, id) != type) {
        refuse_model("'" + full + "' is an array of another type");
    }
    return id;
}

std::vector<int> numbers(const gguf_context * gguf, const std::string & key, size_t most_items, int most) {
    const std::string full  = std::string(architecture) + "." + key;
    const int64_t     id    = find_array(gguf, full, GGUF_TYPE_INT32);
    const size_t      count = gguf_get_arr_n(gguf, id);
    if (count == 0 || count > most_items) {
        refuse_model("'" + full + "' has " + std::to_string(count) + " items");
    }
    const auto *     data = static_cast<const int32_t *>(gguf_get_arr_data(gguf, id));
    std::vector<int> values(data, data + count);
    for (const int value : values) {
        if (value < 1 || value > most) {
            refuse_model("'" + full + "' holds " + std::to_string(value));
        }
    }
    return values;
}

void must(bool holds, const char * what) {
    if (!holds) {
        refuse_model(what);
    }
}

void check_consistency(const Hyper & h) {
    must(h.hidden % 2 == 0, "'kokoro.hidden' is odd");
    must(h.bert_hidden % h.bert_heads == 0, "'kokoro.bert.heads' does not divide the width");
    must(h.text_kernel % 2 == 1, "'kokoro.text_kernel' is even");
    must(h.fft % 2 == 0 && h.hop * 2 <= h.fft, "'kokoro.generator.fft' does not fit the hop");
    must(h.stage_channels(h.rates.size() - 1) > 0 && h.channels % (1 << h.rates.size()) == 0,
         "'kokoro.generator.channels' cannot be halved for every rate");
    for (const int rate : h.rates) {
        must(rate % 2 == 0, "'kokoro.generator.rates' holds an odd rate");
    }
    for (const int kernel : h.kernels) {
        must(kernel % 2 == 1, "'kokoro.generator.kernels' holds an even kernel");
    }
    must(h.samples_per_frame() <= 4096, "'kokoro.generator.rates' multiply to too much");
}

Hyper read_hyper(const gguf_context * gguf) {
    const int64_t id = find_key(gguf, "general.architecture", GGUF_TYPE_STRING);
    if (std::strcmp(gguf_get_val_str(gguf, id), architecture) != 0) {
        refuse_model("the file is of another architecture");
    }
    number(gguf, "sample_rate", sample_rate_hz, sample_rate_hz);
    Hyper h;
    h.hidden           = number(gguf, "hidden", 2, 4096);
    h.style            = number(gguf, "style", 1, 4096);
    h.layers           = number(gguf, "layers", 1, 16);
    h.tokens           = number(gguf, "tokens", 2, 4096);
    h.max_duration     = number(gguf, "max_duration", 1, 256);
    h.text_kernel      = number(gguf, "text_kernel", 1, 31);
    h.bert_embedding   = number(gguf, "bert.embedding", 1, 4096);
    h.bert_hidden      = number(gguf, "bert.hidden", 1, 4096);
    h.bert_heads       = number(gguf, "bert.heads", 1, 64);
    h.bert_ffn         = number(gguf, "bert.ffn", 1, 16384);
    h.bert_layers      = number(gguf, "bert.layers", 1, 64);
    h.bert_context     = number(gguf, "bert.context", 3, 4096);
    h.decoder_hidden   = number(gguf, "decoder.hidden", 1, 4096);
    h.decoder_residual = number(gguf, "decoder.residual", 1, 1024);
    h.channels         = number(gguf, "generator.channels", 2, 4096);
    h.fft              = number(gguf, "generator.fft", 4, 64);
    h.hop              = number(gguf, "generator.hop", 1, 32);
    h.rates            = numbers(gguf, "generator.rates", 4, 64);
    h.kernels          = numbers(gguf, "generator.kernels", 4, 31);
    h.dilations        = numbers(gguf, "generator.dilations", 4, 16);
    check_consistency(h);
    return h;
}

std::vector<std::string> read_phonemes(const gguf_context * gguf, const Hyper & h) {
    const std::string key   = std::string(architecture) + ".phonemes";
    const int64_t     id    = find_array(gguf, key, GGUF_TYPE_STRING);
    const size_t      count = gguf_get_arr_n(gguf, id);
    if (count != static_cast<size_t>(h.tokens)) {
        refuse_model("'" + key + "' does not have one entry per token");
    }
    std::vector<std::string> phonemes(count);
    for (size_t i = 0; i < count; ++i) {
        phonemes[i] = gguf_get_arr_str(gguf, id, i);
    }
    return phonemes;
}

bool allowed(ggml_type type, Wanted::Kind kind) {
    if (type == GGML_TYPE_F32) {
        return true;
    }
    return kind == Wanted::Kind::matrix && (type == GGML_TYPE_F16 || type == GGML_TYPE_BF16 || type == GGML_TYPE_Q8_0);
}

ggml_tensor * check_tensor(ggml_context * context, const Wanted & want) {
    ggml_tensor * tensor = ggml_get_tensor(context, want.name.c_str());
    if (tensor == nullptr) {
        refuse_model("tensor '" + want.name + "' is missing");
    }
    if (tensor->ne[0] != want.columns || tensor->ne[1] != want.rows || tensor->ne[2] != 1 || tensor->ne[3] != 1) {
        refuse_model("tensor '" + want.name + "' is " + std::to_string(tensor->ne[0]) + " x " +
                     std::to_string(tensor->ne[1]) + ", expected " + std::to_string(want.columns) + " x " +
                     std::to_string(want.rows));
    }
    if (!allowed(tensor->type, want.kind)) {
        refuse_model("tensor '" + want.name + "' is of type " + ggml_type_name(tensor->type));
    }
    return tensor;
}

uint64_t start_of(const gguf_context * gguf, const ggml_tensor * tensor) {
    return gguf_get_data_offset(gguf) + gguf_get_tensor_offset(gguf, gguf_find_tensor(gguf, ggml_get_name(tensor)));
}

// Before any memory is taken: a header can promise what the file does not hold.
void check_extent(const gguf_context * gguf, const ggml_tensor * tensor, uint64_t file_size) {
    const uint64_t start = start_of(gguf, tensor);
    const uint64_t size  = ggml_nbytes(tensor);
    if (start > file_size || size > file_size - start) {
        refuse_model(std::string("tensor '") + ggml_get_name(tensor) + "' lies beyond the end of the file");
    }
}

void read_tensor(std::ifstream & stream, const gguf_context * gguf, const ggml_tensor * tensor, void * into) {
    stream.seekg(static_cast<std::streamoff>(start_of(gguf, tensor)));
    if (!stream.read(static_cast<char *>(into), static_cast<std::streamsize>(ggml_nbytes(tensor)))) {
        throw Failure(ELIZA_ERR_FFI_FAULT, "reading the voice model failed");
    }
}

// A file in f32 is a promise of f32 arithmetic; everything smaller may be rounded to bfloat16.
bool wants_tiles(const Wanted & want, const ggml_tensor * tensor) {
    return want.tile_taps > 0 && tensor->type != GGML_TYPE_F32 &&
           fits_tiles(want.columns / want.tile_taps, want.rows) && tiles_available();
}

uint64_t checked_size(const std::filesystem::path & file) {
    std::error_code error;
    const auto      size = std::filesystem::file_size(file, error);
    if (error) {
        refuse_model("its file cannot be read");
    }
    if (size == 0 || size > max_file_size) {
        refuse_model("its file has " + std::to_string(size) + " bytes");
    }
    return size;
}

}  // namespace

void refuse_model(const std::string & why) {
    throw Failure(ELIZA_ERR_BUNDLE_INVALID, "the voice model cannot be used: " + why);
}

int Hyper::upsampling() const {
    return std::accumulate(rates.begin(), rates.end(), 1, std::multiplies<int>());
}

int Hyper::noise_stride(size_t stage) const {
    const auto first = rates.begin() + static_cast<std::ptrdiff_t>(std::min(stage + 1, rates.size()));
    return std::accumulate(first, rates.end(), 1, std::multiplies<int>());
}

const TileWeights * Model::tiles(const std::string & name) const {
    const auto found = tiles_.find(name);
    return found == tiles_.end() ? nullptr : found->second.get();
}

void Model::read_weights(const std::filesystem::path & file, const gguf_context * gguf,
                         const std::vector<Wanted> & all) {
    std::ifstream     stream(file, std::ios::binary);
    std::vector<char> bytes;
    for (const Wanted & want : all) {
        ggml_tensor * tensor = tensors_.at(want.name);
        if (wants_tiles(want, tensor)) {
            bytes.resize(ggml_nbytes(tensor));
            read_tensor(stream, gguf, tensor, bytes.data());
            tiles_[want.name] = make_tiles(tensor, bytes.data(), want.tile_taps);
            tensor->data      = tiles_[want.name]->tiles;  // so that the allocator passes over it
        }
    }
    buffer_.reset(ggml_backend_alloc_ctx_tensors_from_buft(context_.get(), ggml_backend_cpu_buffer_type()));
    if (buffer_ == nullptr) {
        throw Failure(ELIZA_ERR_OOM, "not enough memory for the voice model");
    }
    for (const auto & entry : tensors_) {
        if (tiles(entry.first) == nullptr) {
            read_tensor(stream, gguf, entry.second, entry.second->data);
        }
    }
}

std::shared_ptr<const Model> Model::load(const std::filesystem::path & file) {
    const uint64_t   size = checked_size(file);
    ggml_context *   raw  = nullptr;
    gguf_init_params params{true, &raw};
    const Gguf       gguf(gguf_init_from_file(file.string().c_str(), params), gguf_free);
    auto             model = std::make_shared<Model>();
    model->context_.reset(raw);
    if (gguf == nullptr || raw == nullptr) {
        refuse_model("its file is not a complete GGUF");
    }
    model->hyper_                    = read_hyper(gguf.get());
    model->phonemes_                 = read_phonemes(gguf.get(), model->hyper_);
    const std::vector<Wanted> wanted = wanted_tensors(model->hyper_);
    for (const Wanted & want : wanted) {
        model->tensors_[want.name] = check_tensor(raw, want);
        check_extent(gguf.get(), model->tensors_[want.name], size);
    }
    if (gguf_get_n_tensors(gguf.get()) != static_cast<int64_t>(model->tensors_.size())) {
        refuse_model("it holds tensors that this architecture does not know");
    }
    model->read_weights(file, gguf.get(), wanted);
    return model;
}

}  // namespace eliza::kokoro
