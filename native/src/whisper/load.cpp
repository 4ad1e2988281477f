#include "abi/guard.h"
#include "ggml-backend.h"
#include "llm/cpu_backend.h"
#include "llm/runtime.h"
#include "whisper/model.h"

#include <algorithm>
#include <fstream>

namespace eliza::whisper {
namespace {

constexpr uint64_t max_file_bytes = 8ull << 30;
constexpr int      block          = 32;  // what rows of q8_0, and the quick products of bfloat16, divide into

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
    return type == GGML_TYPE_F32 || (kind != Wanted::Kind::vector && (type == GGML_TYPE_F16 || type == GGML_TYPE_Q8_0));
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

// Where the processor multiplies bfloat16, matrices that meet a whole window are kept in it, the quickest way.
// A file in f32 is a promise of f32 arithmetic.
bool becomes_bfloat16(const Wanted & want) {
    return want.kind == Wanted::Kind::busy_matrix && want.columns % block == 0 && (*want.slot)->type != GGML_TYPE_F32 &&
           llm::has_cpu_feature("AVX512_BF16");
}

void set_bfloat16(ggml_tensor * tensor) {
    tensor->type  = GGML_TYPE_BF16;
    tensor->nb[0] = sizeof(ggml_bf16_t);
    tensor->nb[1] = tensor->nb[0] * static_cast<size_t>(tensor->ne[0]);
    tensor->nb[2] = tensor->nb[3] = tensor->nb[1] * static_cast<size_t>(tensor->ne[1]);
}

void find_tensors(Model & model, const gguf_context * gguf, uint64_t file_size) {
    model.encoder.resize(static_cast<size_t>(model.hyper.encoder_layers));
    model.decoder.resize(static_cast<size_t>(model.hyper.decoder_layers));
    const std::vector<Wanted> wanted = wanted_tensors(model);
    for (const Wanted & want : wanted) {
        *want.slot = check_tensor(model.context.get(), want);
        check_extent(gguf, *want.slot, file_size);
        if (becomes_bfloat16(want)) {
            set_bfloat16(*want.slot);
        }
    }
    if (gguf_get_n_tensors(gguf) != static_cast<int64_t>(wanted.size())) {
        refuse_model("it holds tensors that this architecture does not know");
    }
}

std::vector<char> read_bytes(std::ifstream & stream, const gguf_context * gguf, const ggml_tensor * tensor) {
    std::vector<char> bytes(gguf_get_tensor_size(gguf, gguf_find_tensor(gguf, ggml_get_name(tensor))));
    stream.seekg(static_cast<std::streamoff>(start_of(gguf, tensor)));
    if (!stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) {
        throw Failure(ELIZA_ERR_FFI_FAULT, "reading the recognition model failed");
    }
    return bytes;
}

void round_into(ggml_tensor * tensor, ggml_type type, const std::vector<char> & bytes) {
    std::vector<float> row(static_cast<size_t>(tensor->ne[0]));
    const size_t       row_bytes = ggml_row_size(type, tensor->ne[0]);
    for (int64_t i = 0; i < tensor->ne[1]; ++i) {
        const char * packed = bytes.data() + static_cast<size_t>(i) * row_bytes;
        ggml_get_type_traits(type)->to_float(packed, row.data(), tensor->ne[0]);
        ggml_fp32_to_bf16_row(row.data(), static_cast<ggml_bf16_t *>(tensor->data) + i * tensor->ne[0], tensor->ne[0]);
    }
}

void read_tensors(Model & model, const gguf_context * gguf, const std::filesystem::path & file) {
    model.buffer.reset(ggml_backend_alloc_ctx_tensors_from_buft(model.context.get(), ggml_backend_cpu_buffer_type()));
    if (model.buffer == nullptr) {
        throw Failure(ELIZA_ERR_OOM, "not enough memory for the recognition model");
    }
    std::ifstream stream(file, std::ios::binary);
    for (const Wanted & want : wanted_tensors(model)) {
        ggml_tensor *           tensor = *want.slot;
        const ggml_type         type   = gguf_get_tensor_type(gguf, gguf_find_tensor(gguf, want.name.c_str()));
        const std::vector<char> bytes  = read_bytes(stream, gguf, tensor);
        if (type == tensor->type) {
            std::copy(bytes.begin(), bytes.end(), static_cast<char *>(tensor->data));
        } else {
            round_into(tensor, type, bytes);
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
