// The operations that ggml does not have, or not fast enough, as its custom nodes.
// Activations lie as [channels, time], channels contiguous. Every loop over time looks at the cancel flag.
#pragma once

#include "ggml.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace eliza::kokoro {

using Cancel = std::atomic<bool>;

// Keeps the parameters of custom nodes alive for as long as the graph that points to them.
class Arena {
  public:
    template <typename T> T * add(const T & value) {
        auto kept = std::make_shared<T>(value);
        items_.push_back(kept);
        return kept.get();
    }

  private:
    std::vector<std::shared_ptr<void>> items_;
};

class Crew;

struct Site {  // where nodes are made
    ggml_context * context;
    Arena *        arena;
    const Cancel * cancel;
    Crew *         crew = nullptr;  // shares every node made here; without it ggml's own threads do
};

struct NodeShape {
    int64_t   ne0, ne1 = 1, ne2 = 1;
    ggml_type type       = GGML_TYPE_F32;
    int       most_tasks = GGML_N_TASKS_MAX;
};
// One custom node; `run` and `data` as ggml_custom_4d takes them, data from the site's arena.
ggml_tensor * make_node(const Site & site, const NodeShape & shape, const std::vector<ggml_tensor *> & sources,
                        ggml_custom_op_t run, void * data);

// A signal over time. With `phases` = d > 1, time t lies in phase t % d at place t / d: what a convolution
// with dilation d writes and reads, so that dilation costs nothing.
struct Signal {
    ggml_tensor * tensor;
    int64_t       channels, length;
    int64_t       phases = 1;
};

enum class Activation { none, leaky, snake };

struct Prepare {
    ggml_tensor * style      = nullptr;  // [2 * channels] gamma, beta of an adaptive instance norm; or none
    ggml_tensor * alpha      = nullptr;  // [channels] for snake
    Activation    activation = Activation::none;
    float         slope      = 0;
    int64_t       taps = 1, dilation = 1, padding = 0;  // of the convolution that will read the result
    bool          tiles = false;                        // that convolution runs on the matrix unit
};

// Norm, activation and the padding that the next convolution needs, in one pass: padded channels and the
// time before and after are zero. `padding` counts time steps and is a multiple of the dilation. For tiles the
// result is bfloat16, lies in plain order whatever the dilation, and ends with a whole block of zeros to spare.
ggml_tensor * prepare(const Site & site, const Signal & x, const Prepare & how);

// scale * (a + b + c + bias): b, c and bias may be null. `reflect` puts a[1] before a[0].
ggml_tensor * add_up(const Site & site, const std::vector<Signal> & parts, ggml_tensor * bias, float scale,
                     bool reflect = false);

// The parts' channels one after the other, zeros up to `width`; a part of one step is repeated.
ggml_tensor * join(const Site & site, const std::vector<ggml_tensor *> & parts, int64_t width, int64_t length);

// Depthwise transposed convolution, kernel 3, stride 2: twice the length.
ggml_tensor * pool_up(const Site & site, ggml_tensor * x, ggml_tensor * weight, ggml_tensor * bias);
ggml_tensor * repeat_each(const Site & site, ggml_tensor * x);  // every step twice
ggml_tensor * halve_curve(const Site & site, ggml_tensor * x, ggml_tensor * weight, ggml_tensor * bias);

// gates [8h, time] of both directions, recurrent weights [h, 8h] -> [2h, time].
ggml_tensor * lstm_scan(const Site & site, ggml_tensor * gates, ggml_tensor * recurrent);
ggml_tensor * gelu_tanh(const Site & site, ggml_tensor * x);

struct SourceShape {
    int64_t  samples_per_frame, fft, hop, padding;
    uint64_t seed;
    float    noise;  // 1 = as trained, 0 = none
};
// F0 [1, frames] -> excitation [samples]; its spectrum [padded 2 * bins, steps + 2 * padding]; and back.
ggml_tensor * excite(const Site & site, ggml_tensor * f0, ggml_tensor * weight, ggml_tensor * bias,
                     const SourceShape & shape);
ggml_tensor * analyse(const Site & site, ggml_tensor * wave, const SourceShape & shape);
ggml_tensor * resynthesise(const Site & site, ggml_tensor * spectrum, const SourceShape & shape);

}  // namespace eliza::kokoro
