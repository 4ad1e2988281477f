// The recurrent scan. The two directions never meet, so each has its own thread and needs no barrier.
#include "kokoro/kernels.h"
#include "kokoro/ops.h"

#include <cstring>

namespace eliza::kokoro {
namespace {

struct LstmNode {
    const Cancel * cancel;
};

// Recurrent weights of one direction as f32 rows; anything smaller in the file is widened once per scan.
std::vector<float> recurrent_rows(const ggml_tensor * weight, int direction) {
    const int64_t      width = weight->ne[0];
    const int64_t      rows  = weight->ne[1] / 2;
    std::vector<float> out(static_cast<size_t>(rows * width));
    const auto * base = static_cast<const char *>(weight->data) + static_cast<size_t>(direction * rows) * weight->nb[1];
    if (weight->type == GGML_TYPE_F32) {
        std::memcpy(out.data(), base, out.size() * sizeof(float));
    } else {
        ggml_get_type_traits(weight->type)->to_float(base, out.data(), rows * width);
    }
    return out;
}

void scan(ggml_tensor * dst, int direction, const Cancel * cancel) {
    const ggml_tensor *      gates  = dst->src[0];
    const int64_t            width  = dst->src[1]->ne[0];
    const int64_t            length = gates->ne[1];
    const std::vector<float> rows   = recurrent_rows(dst->src[1], direction);
    std::vector<float>       sums(static_cast<size_t>(4 * width)), cell(static_cast<size_t>(width), 0.0f);
    std::vector<float>       zero(static_cast<size_t>(width), 0.0f);
    const float *            hidden = zero.data();
    for (int64_t i = 0; i < length; ++i) {
        if (i % 8 == 0 && cancel->load(std::memory_order_relaxed)) {
            return;
        }
        const int64_t t = direction == 0 ? i : length - 1 - i;
        matvec(rows.data(), hidden, sums.data(), 4 * width, width);
        add_scaled(static_cast<const float *>(gates->data) + t * gates->ne[0] + direction * 4 * width, sums.data(),
                   4 * width);
        float * out = static_cast<float *>(dst->data) + t * dst->ne[0] + direction * width;
        lstm_cell(sums.data(), cell.data(), out, width);
        hidden = out;
    }
}

void run_lstm(ggml_tensor * dst, int ith, int nth, void * data) {
    const auto & node = *static_cast<const LstmNode *>(data);
    for (int direction = ith; direction < 2; direction += nth) {
        scan(dst, direction, node.cancel);
    }
}

}  // namespace

ggml_tensor * lstm_scan(const Site & site, ggml_tensor * gates, ggml_tensor * recurrent) {
    const NodeShape shape{2 * recurrent->ne[0], gates->ne[1], 1, GGML_TYPE_F32, 2};
    return make_node(site, shape, {gates, recurrent}, run_lstm, site.arena->add(LstmNode{site.cancel}));
}

}  // namespace eliza::kokoro
