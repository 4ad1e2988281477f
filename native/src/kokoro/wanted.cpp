// The list of tensors, layer by layer, in the order in which the graphs use them.
#include "kokoro/model.h"

namespace eliza::kokoro {
namespace {

class List {
  public:
    std::vector<Wanted> items;

    void matrix(const std::string & name, int64_t columns, int64_t rows) {
        items.push_back({name, columns, rows, Wanted::Kind::matrix});
    }
    void vector(const std::string & name, int64_t columns, int64_t rows = 1) {
        items.push_back({name, columns, rows, Wanted::Kind::vector});
    }
    void linear(const std::string & name, int64_t in, int64_t out) {
        matrix(name + ".weight", in, out);
        vector(name + ".bias", out);
    }
    // For the matrix unit where it is wanted: only what Builder::shape() and Builder::linear() read.
    void tiled(const std::string & name, int64_t columns, int64_t taps, int64_t rows) {
        items.push_back({name, columns, rows, Wanted::Kind::matrix, taps});
    }
    void tiled_linear(const std::string & name, int64_t in, int64_t out) {
        tiled(name + ".weight", in, 1, out);
        vector(name + ".bias", out);
    }
    void conv(const std::string & name, int64_t in, int64_t taps, int64_t out) {
        tiled(name + ".weight", taps * aligned(in), taps, out);
        vector(name + ".bias", out);
    }
    void plain_conv(const std::string & name, int64_t in, int64_t taps, int64_t out) {
        linear(name, taps * aligned(in), out);
    }
    void norm(const std::string & name, int64_t width) {
        vector(name + ".weight", width);
        vector(name + ".bias", width);
    }
    void lstm(const std::string & name, int64_t in, int64_t hidden) {
        tiled(name + ".ih", in, 1, 8 * hidden);
        matrix(name + ".hh", hidden, 8 * hidden);
        vector(name + ".bias", 8 * hidden);
    }
    void res_block(const std::string & name, const Hyper & h, int64_t in, int64_t out, bool upsample) {
        linear(name + ".norm1", h.style, 2 * in);
        linear(name + ".norm2", h.style, 2 * out);
        conv(name + ".conv1", in, 3, out);
        conv(name + ".conv2", out, 3, out);
        if (in != out) {
            tiled(name + ".conv1x1.weight", aligned(in), 1, out);
        }
        if (upsample) {
            vector(name + ".pool.weight", in, 3);
            vector(name + ".pool.bias", in);
        }
    }
    void snake_block(const std::string & name, const Hyper & h, int64_t width, int64_t taps) {
        for (size_t i = 0; i < h.dilations.size(); ++i) {
            for (const char * half : {"1.", "2."}) {
                const std::string end = half + std::to_string(i);
                linear(name + ".adain" + end, h.style, 2 * width);
                conv(name + ".convs" + end, width, taps, width);
                vector(name + ".alpha" + end, width);
            }
        }
    }
};

void text_part(List & list, const Hyper & h) {
    list.vector("bert.tokens", h.bert_embedding, h.tokens);
    list.vector("bert.positions", h.bert_embedding, h.bert_context);
    list.norm("bert.embedding_norm", h.bert_embedding);
    list.tiled_linear("bert.map", h.bert_embedding, h.bert_hidden);
    for (const char * part : {"q", "k", "v", "out"}) {
        list.tiled_linear(std::string("bert.attention.") + part, h.bert_hidden, h.bert_hidden);
    }
    list.norm("bert.attention_norm", h.bert_hidden);
    list.tiled_linear("bert.ffn_up", h.bert_hidden, h.bert_ffn);
    list.tiled_linear("bert.ffn_down", h.bert_ffn, h.bert_hidden);
    list.norm("bert.ffn_norm", h.bert_hidden);
    list.tiled_linear("bert.project", h.bert_hidden, h.hidden);
    list.vector("text.tokens", h.hidden, h.tokens);
    for (int i = 0; i < h.layers; ++i) {
        list.conv("text.cnn." + std::to_string(i), h.hidden, h.text_kernel, h.hidden);
        list.norm("text.norm." + std::to_string(i), h.hidden);
    }
    list.lstm("text.lstm", h.hidden, h.hidden / 2);
}

void predictor_part(List & list, const Hyper & h) {
    for (int i = 0; i < h.layers; ++i) {
        list.lstm("predictor.lstm." + std::to_string(i), h.hidden + h.style, h.hidden / 2);
        list.linear("predictor.norm." + std::to_string(i), h.style, 2 * h.hidden);
    }
    list.lstm("predictor.duration", h.hidden + h.style, h.hidden / 2);
    list.tiled_linear("predictor.duration_out", h.hidden, h.max_duration);
    list.lstm("predictor.shared", h.hidden + h.style, h.hidden / 2);
    for (const char * curve : {"F0", "N"}) {
        const std::string name = std::string("predictor.") + curve;
        list.res_block(name + ".0", h, h.hidden, h.hidden, false);
        list.res_block(name + ".1", h, h.hidden, h.hidden / 2, true);
        list.res_block(name + ".2", h, h.hidden / 2, h.hidden / 2, false);
        list.conv(name + "_out", h.hidden / 2, 1, 1);
    }
}

void decoder_part(List & list, const Hyper & h) {
    const int64_t joined = h.decoder_hidden + 2 + h.decoder_residual;
    list.res_block("decoder.encode", h, h.hidden + 2, h.decoder_hidden, false);
    for (int i = 0; i < 3; ++i) {
        list.res_block("decoder.decode." + std::to_string(i), h, joined, h.decoder_hidden, false);
    }
    list.res_block("decoder.decode.3", h, joined, h.channels, true);
    for (const char * curve : {"F0", "N"}) {
        list.vector(std::string("decoder.") + curve + ".weight", 3);
        list.vector(std::string("decoder.") + curve + ".bias", 1);
    }
    list.conv("decoder.residual", h.hidden, 1, h.decoder_residual);
}

void generator_part(List & list, const Hyper & h) {
    list.vector("generator.source.weight", harmonics);
    list.vector("generator.source.bias", 1);
    for (size_t i = 0; i < h.rates.size(); ++i) {
        const std::string n     = std::to_string(i);
        const int64_t     width = h.stage_channels(i);
        list.tiled("generator.up." + n + ".weight", 2 * aligned(2 * width), 2, h.rates[i] * width);
        list.vector("generator.up." + n + ".bias", width);
        list.plain_conv("generator.noise." + n, 2 * h.bins(), h.noise_kernel(i), width);
        list.snake_block("generator.noise_block." + n, h, width, h.noise_block_kernel(i));
        for (size_t j = 0; j < h.kernels.size(); ++j) {
            const size_t block = i * h.kernels.size() + j;
            list.snake_block("generator.block." + std::to_string(block), h, width, h.kernels[j]);
        }
    }
    list.plain_conv("generator.out", h.stage_channels(h.rates.size() - 1), 7, 2 * h.bins());
}

}  // namespace

std::vector<Wanted> wanted_tensors(const Hyper & hyper) {
    List list;
    text_part(list, hyper);
    predictor_part(list, hyper);
    decoder_part(list, hyper);
    generator_part(list, hyper);
    return list.items;
}

}  // namespace eliza::kokoro
