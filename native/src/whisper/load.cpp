#include "abi/guard.h"
#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "llm/runtime.h"
#include "whisper/model.h"

#include <fstream>

namespace eliza::whisper {
namespace {

constexpr uint64_t max_file_bytes = 8ull << 30;
constexpr int      block          = 32;  // rows of q8_0 come in whole blocks

Hyper read_hyper(const GgufReader & reader) {
    if (reader.text("general.architecture") != "whisper") {
        refuse_model("the file is of another architecture");
    }
    reader.number("whisper.sample_rate", 16000, 16000);
    reader.number("whisper.mel.fft", 400, 400);
    reader.number("whisper.mel.hop", 160, 160);
    reader.number("whisper.encoder.context", audio_context, audio_context);
    Hyper h;
    h.width          = reader.number("whisper.width", block, 2048);
    h.heads          = reader.number("whisper.heads", 1, 64);
    h.feed_forward   = reader.number("whisper.feed_forward", block, 16384);
    h.encoder_layers = reader.number("whisper.encoder.layers", 1, 64);
    h.decoder_layers = reader.number("whisper.decoder.layers", 1, 64);
    h.text_context   = reader.number("whisper.decoder.context", 8, 4096);
    h.mel_bands      = reader.number("whisper.mel.bands", 1, 200);
    if (h.width % h.heads != 0 || h.head_width() % 8 != 0 || h.width % block != 0 || h.feed_forward % block != 0) {
        refuse_model("its widths do not divide");
    }
    return h;
}

bool allowed(ggml_type type, Wanted::Kind kind) {
    return type == GGML_TYPE_F32 || (kind == Wanted::Kind::matrix && (type == GGML_TYPE_F16 || type == GGML_TYPE_Q8_0));
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

uint64_t checked_size(const std::filesystem::path & file) {
    std::error_code error;
    const auto      size = std::filesystem::file_size(file, error);
    if (error) {
        refuse_model("its file cannot be read");
    }
    if (size == 0 || size > max_file_bytes) {
        refuse_model("its file has " + std::to_string(size) + " bytes");
    }
    return size;
}

void find_tensors(Model & model, const gguf_context * gguf, uint64_t file_size) {
    model.encoder.resize(static_cast<size_t>(model.hyper.encoder_layers));
    model.decoder.resize(static_cast<size_t>(model.hyper.decoder_layers));
    const std::vector<Wanted> wanted = wanted_tensors(model);
    for (const Wanted & want : wanted) {
        *want.slot = check_tensor(model.context.get(), want);
        check_extent(gguf, *want.slot, file_size);
    }
    if (gguf_get_n_tensors(gguf) != static_cast<int64_t>(wanted.size())) {
        refuse_model("it holds tensors that this architecture does not know");
    }
}

void read_tensors(Model & model, const gguf_context * gguf, const std::filesystem::path & file) {
    model.buffer.reset(ggml_backend_alloc_ctx_tensors_from_buft(model.context.get(), ggml_backend_cpu_buffer_type()));
    if (model.buffer == nullptr) {
        throw Failure(ELIZA_ERR_OOM, "not enough memory for the recognition model");
    }
    std::ifstream stream(file, std::ios::binary);
    for (const Wanted & want : wanted_tensors(model)) {
        ggml_tensor * tensor = *want.slot;
        stream.seekg(static_cast<std::streamoff>(start_of(gguf, tensor)));
        if (!stream.read(static_cast<char *>(tensor->data), static_cast<std::streamsize>(ggml_nbytes(tensor)))) {
            throw Failure(ELIZA_ERR_FFI_FAULT, "reading the recognition model failed");
        }
    }
}

}  // namespace

void refuse_model(const std::string & why) {
    throw Failure(ELIZA_ERR_BUNDLE_INVALID, "the recognition model cannot be used: " + why);
}

std::unique_ptr<const Model> load_model(const std::filesystem::path & file) {
    const uint64_t         size   = checked_size(file);
    ggml_context *         raw    = nullptr;
    const gguf_init_params params = {/*.no_alloc =*/true, /*.ctx =*/&raw};
    const gguf_context_ptr gguf(gguf_init_from_file(file.u8string().c_str(), params));
    auto                   model = std::make_unique<Model>();
    model->context.reset(raw);
    if (gguf == nullptr || raw == nullptr) {
        refuse_model("its file is not a complete GGUF");
    }
    const GgufReader reader(gguf.get());
    model->hyper      = read_hyper(reader);
    model->vocabulary = read_vocabulary(reader);
    find_tensors(*model, gguf.get(), size);
    read_tensors(*model, gguf.get(), file);
    return model;
}

}  // namespace eliza::whisper
