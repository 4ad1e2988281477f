// A prompt with one picture or one recording in it, laid out as a turn of the model's chat.
#pragma once

#include "llm/media.h"
#include "mtmd.h"
#include "sight/projector.h"

#include <memory>
#include <string>

namespace eliza::sight {

// What is put around the media; `said` is never read as control tokens.
struct Wording {
    bool        has_system_turn = false;  // an empty one, before the user's
    std::string said;                     // by the user, after the media
    std::string answer;                   // words that the model's answer begins with
    std::string answer_control;           // a control token behind them
};

class Prompt final : public llm::Media {
  public:
    // Throws Failure: INVALID_ARG when the projector can make nothing of the media, FFI_FAULT.
    Prompt(std::shared_ptr<Projector> projector, const mtmd_bitmap * media, const Wording & wording);

    int  cells() const override { return cells_; }
    int  positions() const override { return positions_; }
    int  largest_piece() const override { return largest_piece_; }
    void decode(llama_context * context, llama_pos first, const std::atomic<bool> & cancelled) override;

  private:
    void measure();
    void decode_media(llama_context * context, const mtmd_input_chunk * chunk, llama_pos * position,
                      const std::atomic<bool> & cancelled);

    const std::shared_ptr<Projector> projector_;
    const mtmd::input_chunks_ptr     chunks_;
    int                              cells_         = 0;
    int                              positions_     = 0;
    int                              largest_piece_ = 0;
};

}  // namespace eliza::sight
