#include "sight/prompt.h"

#include "abi/guard.h"
#include "llm/runtime.h"
#include "llm/turn_form.h"
#include "mtmd-helper.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace eliza::sight {
namespace {

constexpr llama_seq_id sequence = 0;

// A list of pieces as the runtime wants it. Not copied: its parts point into it.
class Layout {
  public:
    Layout(const mtmd_bitmap * media, const Wording & wording, const llm::TurnForm * form) {
        texts_.reserve(6);
        if (form != nullptr) {
            control((wording.has_system_turn ? form->opens + "system\n" + form->closes + "\n" : "") + form->opens +
                    "user\n");
        }
        parts_.push_back({nullptr, media});
        words(form == nullptr ? "\n" + wording.said + "\n" : wording.said);
        if (form != nullptr) {
            control(form->closes + "\n" + form->opens + form->model_role + "\n");
        }
        words(wording.answer);
        control(wording.answer_control);
    }
    Layout(const Layout &)             = delete;
    Layout & operator=(const Layout &) = delete;

    std::vector<const mtmd_input_part *> pointers() const {
        std::vector<const mtmd_input_part *> all;
        std::transform(parts_.begin(), parts_.end(), std::back_inserter(all),
                       [](const mtmd_input_part & part) { return &part; });
        return all;
    }

  private:
    struct Text {
        std::string     text;
        mtmd_input_text view;
    };

    void control(const std::string & text) { add(text, true); }
    void words(const std::string & text) { add(text, false); }

    void add(const std::string & text, bool parse_special) {
        if (text.empty()) {
            return;
        }
        Text & kept = texts_.emplace_back(Text{text, {}});
        kept.view   = {kept.text.data(), kept.text.size(), /*add_special=*/false, parse_special};
        parts_.push_back({&kept.view, nullptr});
    }

    std::vector<Text>            texts_;  // reserved: its elements stay where they are
    std::vector<mtmd_input_part> parts_;
};

mtmd::input_chunks_ptr lay_out(const Projector & projector, const mtmd_bitmap * media, const Wording & wording) {
    const Layout           layout(media, wording, llm::find_turn_form(projector.model().vocab()));
    const auto             parts = layout.pointers();
    mtmd::input_chunks_ptr chunks(mtmd_input_chunks_init());
    llm::forget_runtime_errors();
    if (mtmd_tokenize_from_parts(projector.get(), chunks.get(), parts.data(), parts.size(), /*add_special=*/true) !=
        0) {
        throw Failure(ELIZA_ERR_INVALID_ARG, llm::explain("the projector can make nothing of it"));
    }
    return chunks;
}

[[noreturn]] void refuse_decode(int status, const std::atomic<bool> & cancelled) {
    if (cancelled.load(std::memory_order_relaxed)) {
        throw Failure(ELIZA_ERR_CANCELLED, "the stream was cancelled; reset it to go on");
    }
    throw Failure(ELIZA_ERR_FFI_FAULT, llm::explain("the runtime failed to decode, code " + std::to_string(status)));
}

}  // namespace

Prompt::Prompt(std::shared_ptr<Projector> projector, const mtmd_bitmap * media, const Wording & wording)
    : projector_(std::move(projector)), chunks_(lay_out(*projector_, media, wording)) {
    measure();
}

void Prompt::measure() {
    const size_t cells = mtmd_helper_get_n_tokens(chunks_.get());
    require(cells > 0 && cells <= static_cast<size_t>(std::numeric_limits<int>::max() / 2), "the prompt is too long");
    cells_     = static_cast<int>(cells);
    positions_ = mtmd_helper_get_n_pos(chunks_.get());
    for (size_t i = 0; i < mtmd_input_chunks_size(chunks_.get()); ++i) {
        const mtmd_input_chunk * chunk = mtmd_input_chunks_get(chunks_.get(), i);
        if (mtmd_input_chunk_get_type(chunk) != MTMD_INPUT_CHUNK_TYPE_TEXT &&
            mtmd_decode_use_non_causal(projector_->get(), chunk)) {
            largest_piece_ = std::max(largest_piece_, static_cast<int>(mtmd_input_chunk_get_n_tokens(chunk)));
        }
    }
}

void Prompt::decode(llama_context * context, llama_pos first, const std::atomic<bool> & cancelled) {
    const size_t count    = mtmd_input_chunks_size(chunks_.get());
    llama_pos    position = first;
    for (size_t i = 0; i < count; ++i) {
        const mtmd_input_chunk * chunk = mtmd_input_chunks_get(chunks_.get(), i);
        if (mtmd_input_chunk_get_type(chunk) != MTMD_INPUT_CHUNK_TYPE_TEXT) {
            decode_media(context, chunk, &position, cancelled);
            continue;
        }
        const int status =
            mtmd_helper_eval_chunk_single(projector_->get(), context, chunk, position, sequence,
                                          static_cast<int32_t>(llama_n_batch(context)), i + 1 == count, &position);
        if (status != 0) {
            refuse_decode(status, cancelled);
        }
    }
}

void Prompt::decode_media(llama_context * context, const mtmd_input_chunk * chunk, llama_pos * position,
                          const std::atomic<bool> & cancelled) {
    projector_->encode(chunk, cancelled, [&](float * embeddings) {
        const int status =
            mtmd_helper_decode_image_chunk(projector_->get(), context, chunk, embeddings, *position, sequence,
                                           static_cast<int32_t>(llama_n_batch(context)), position, nullptr, nullptr);
        if (status != 0) {
            refuse_decode(status, cancelled);
        }
    });
}

}  // namespace eliza::sight
