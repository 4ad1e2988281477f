// Speech recognition's C calls: check, bring to 16 kHz, let the bundle's recognizer listen, hand out whole results.
#include "abi/guard.h"
#include "abi/regions.h"
#include "asr/recognizer.h"
#include "asr/resample.h"
#include "asr/words.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace {

using eliza::Failure;
using eliza::require;
using eliza::asr::Heard;

constexpr int64_t longest_seconds = 900;

}  // namespace

// A recording that grows. The last result is kept until more is heard.
struct EliAsrStream {
    EliInferenceContext * ctx;
    int                   rate_hz;
    std::vector<float>    pcm;
    size_t                heard_samples = 0;
    Heard                 heard;
};

namespace {

void check_sound(const float * pcm, size_t count, size_t before, int rate_hz) {
    require(pcm != nullptr || count == 0, "pcm is NULL");
    require(rate_hz >= 4000 && rate_hz <= 384000, "the sample rate must lie between 4000 and 384000 Hz");
    const size_t most = static_cast<size_t>(longest_seconds) * static_cast<size_t>(rate_hz);
    require(before <= most && count <= most - before, "a recording may last 15 minutes at most");
    require(std::all_of(pcm, pcm + count, [](float x) { return std::isfinite(x); }),
            "pcm holds a value that is no number");
}

Heard listen(EliInferenceContext & ctx, const float * pcm, size_t count, int rate_hz) {
    const std::lock_guard<std::mutex> lock(ctx.asr_mutex);
    eliza::asr::Recognizer &          recognizer = eliza::require_recognizer(ctx);
    const auto                        sound = eliza::asr::resample(pcm, count, rate_hz, eliza::asr::sample_rate_hz);
    return recognizer.transcribe(sound.data(), sound.size());
}

// A text that reaches the end of its buffer could be a cut one, so it is refused.
int deliver_text(const std::string & text, char * out, size_t max_bytes) {
    require(out != nullptr && max_bytes > 0, "out_text must have room for at least its end");
    if (text.size() + 1 > max_bytes || text.size() > static_cast<size_t>(std::numeric_limits<int>::max())) {
        throw Failure(ELIZA_ERR_INVALID_ARG, "the text needs " + std::to_string(text.size() + 1) + " bytes of room");
    }
    std::copy(text.begin(), text.end(), out);
    out[text.size()] = '\0';
    return static_cast<int>(text.size());
}

void deliver_tokens(const std::vector<int> & tokens, int * out, size_t * io_count) {
    if (io_count == nullptr) {
        require(out == nullptr, "io_num_tokens is NULL, so the room in out_tokens is unknown");
        return;
    }
    if (out == nullptr) {
        *io_count = tokens.size();
        return;
    }
    *io_count = std::min(*io_count, tokens.size());  // the words matter more than the ids that do not fit
    std::copy_n(tokens.begin(), *io_count, out);
}

void deliver_times(const std::vector<eliza::asr::TimedWord> & words, int * start_ms, int * end_ms, size_t * io_count) {
    const size_t room = *io_count;
    *io_count         = words.size();
    if (words.size() > room) {
        throw Failure(ELIZA_ERR_INVALID_ARG, "the result has " + std::to_string(words.size()) + " words");
    }
    for (size_t i = 0; i < words.size(); ++i) {
        start_ms[i] = words[i].start_ms;
        end_ms[i]   = words[i].end_ms;
    }
}

int hear_so_far(EliAsrStream * stream, char * out_text, size_t max_bytes, int * out_tokens, size_t * io_num_tokens,
                char ** out_error) {
    return eliza::guarded(out_error, [&] {
        require(stream != nullptr, "stream is NULL");
        if (stream->heard_samples != stream->pcm.size()) {
            stream->heard         = listen(*stream->ctx, stream->pcm.data(), stream->pcm.size(), stream->rate_hz);
            stream->heard_samples = stream->pcm.size();
        }
        deliver_tokens(stream->heard.tokens, out_tokens, io_num_tokens);
        return deliver_text(stream->heard.text, out_text, max_bytes);
    });
}

}  // namespace

extern "C" {

int eliza_inference_asr_transcribe(EliInferenceContext * ctx, const float * pcm, size_t num_samples, int sample_rate,
                                   char * out_text, size_t max_bytes, char ** out_error) {
    return eliza::guarded(out_error, [&] {
        require(ctx != nullptr, "ctx is NULL");
        check_sound(pcm, num_samples, 0, sample_rate);
        return deliver_text(listen(*ctx, pcm, num_samples, sample_rate).text, out_text, max_bytes);
    });
}

int eliza_inference_asr_timestamps_supported(void) {
    return 1;
}

int eliza_inference_asr_transcribe_timed(EliInferenceContext * ctx, const float * pcm, size_t num_samples,
                                         int sample_rate, char * out_text, size_t max_bytes, int * out_start_ms,
                                         int * out_end_ms, size_t * io_num_words, char ** out_error) {
    return eliza::guarded(out_error, [&] {
        require(ctx != nullptr && out_start_ms != nullptr && out_end_ms != nullptr && io_num_words != nullptr,
                "ctx, out_start_ms, out_end_ms and io_num_words must not be NULL");
        check_sound(pcm, num_samples, 0, sample_rate);
        const Heard heard       = listen(*ctx, pcm, num_samples, sample_rate);
        const auto  duration_ms = static_cast<int>(static_cast<int64_t>(num_samples) * 1000 / sample_rate);
        deliver_times(eliza::asr::time_words(heard.text, duration_ms), out_start_ms, out_end_ms, io_num_words);
        return deliver_text(heard.text, out_text, max_bytes);
    });
}

int eliza_inference_asr_stream_supported(void) {
    return 1;
}

EliAsrStream * eliza_inference_asr_stream_open(EliInferenceContext * ctx, int sample_rate, char ** out_error) {
    return eliza::guarded_handle<EliAsrStream>(out_error, [&] {
        require(ctx != nullptr, "ctx is NULL");
        check_sound(nullptr, 0, 0, sample_rate);
        const std::lock_guard<std::mutex> lock(ctx->asr_mutex);
        eliza::require_recognizer(*ctx);
        return new EliAsrStream{ctx, sample_rate, {}, 0, {}};
    });
}

int eliza_inference_asr_stream_feed(EliAsrStream * stream, const float * pcm, size_t num_samples, char ** out_error) {
    return eliza::guarded(out_error, [&] {
        require(stream != nullptr, "stream is NULL");
        check_sound(pcm, num_samples, stream->pcm.size(), stream->rate_hz);
        stream->pcm.insert(stream->pcm.end(), pcm, pcm + num_samples);
        return static_cast<int>(num_samples);
    });
}

int eliza_inference_asr_stream_partial(EliAsrStream * stream, char * out_text, size_t max_bytes, int * out_tokens,
                                       size_t * io_num_tokens, char ** out_error) {
    return hear_so_far(stream, out_text, max_bytes, out_tokens, io_num_tokens, out_error);
}

int eliza_inference_asr_stream_finish(EliAsrStream * stream, char * out_text, size_t max_bytes, int * out_tokens,
                                      size_t * io_num_tokens, char ** out_error) {
    return hear_so_far(stream, out_text, max_bytes, out_tokens, io_num_tokens, out_error);
}

void eliza_inference_asr_stream_close(EliAsrStream * stream) {
    if (!eliza::is_forked_child()) {
        delete stream;
    }
}

}  // extern "C"
