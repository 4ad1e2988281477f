#include "whisper/model.h"

namespace eliza::whisper {
namespace {

using Kind = Wanted::Kind;

// The encoder hears a whole window at once, and so do the decoder's looks at it.
bool is_busy(const std::string & name) {
    return name.rfind("encoder.", 0) == 0 || name.find(".cross_kv") != std::string::npos;
}

void add(std::vector<Wanted> & all, const std::string & name, Linear & linear, int64_t in, int64_t out) {
    all.push_back({name + ".weight", in, out, is_busy(name) ? Kind::busy_matrix : Kind::matrix, &linear.weight});
    all.push_back({name + ".bias", out, 1, Kind::vector, &linear.bias});
}

void add(std::vector<Wanted> & all, const std::string & name, Norm & norm, int64_t size) {
    all.push_back({name + ".weight", size, 1, Kind::vector, &norm.weight});
    all.push_back({name + ".bias", size, 1, Kind::vector, &norm.bias});
}

void add(std::vector<Wanted> & all, const std::string & room, SelfAttention & self, int64_t width) {
    add(all, room + ".self_norm", self.norm, width);
    add(all, room + ".self_qkv", self.qkv, width, 3 * width);
    add(all, room + ".self_out", self.out, width, width);
}

void add(std::vector<Wanted> & all, const std::string & room, CrossAttention & cross, int64_t width) {
    add(all, room + ".cross_norm", cross.norm, width);
    add(all, room + ".cross_q", cross.q, width, width);
    add(all, room + ".cross_kv", cross.kv, width, 2 * width);
    add(all, room + ".cross_out", cross.out, width, width);
}

void add(std::vector<Wanted> & all, const std::string & room, FeedForward & feed, const Hyper & h) {
    add(all, room + ".feed_norm", feed.norm, h.width);
    add(all, room + ".up", feed.up, h.width, h.feed_forward);
    add(all, room + ".down", feed.down, h.feed_forward, h.width);
}

}  // namespace

std::vector<Wanted> wanted_tensors(Model & model) {
    const Hyper &       h = model.hyper;
    std::vector<Wanted> all;
    add(all, "encoder.conv1", model.conv1, conv_taps * h.mel_bands, h.width);
    add(all, "encoder.conv2", model.conv2, conv_taps * h.width, h.width);
    all.push_back({"encoder.position", h.width, audio_context, Kind::vector, &model.position_heard});
    for (size_t i = 0; i < model.encoder.size(); ++i) {
        const std::string room = "encoder." + std::to_string(i);
        add(all, room, model.encoder[i].self, h.width);
        add(all, room, model.encoder[i].feed, h);
    }
    add(all, "encoder.norm", model.encoder_norm, h.width);
    const auto tokens = static_cast<int64_t>(model.vocabulary.tokens.size());
    all.push_back({"decoder.token", h.width, tokens, Kind::matrix, &model.token});
    all.push_back({"decoder.position", h.width, h.text_context, Kind::vector, &model.position_said});
    for (size_t i = 0; i < model.decoder.size(); ++i) {
        const std::string room = "decoder." + std::to_string(i);
        add(all, room, model.decoder[i].self, h.width);
        add(all, room, model.decoder[i].cross, h.width);
        add(all, room, model.decoder[i].feed, h);
    }
    add(all, "decoder.norm", model.decoder_norm, h.width);
    return all;
}

}  // namespace eliza::whisper
