// The library never logs: llama.cpp's and ggml's lines end here. Error lines of the calling thread are
// kept, so that a failure can say what the runtime underneath said.
#pragma once

#include <string>

namespace eliza::llm {

// Takes over the log hooks and starts the runtime's backends. Idempotent, any thread.
void start_runtime();

// Forgets this thread's kept error lines; call before an operation whose failure will be explained.
void forget_runtime_errors() noexcept;

// `what`, followed by the error lines that this thread has seen since forget_runtime_errors().
std::string explain(const std::string & what);

// Whether the kept error lines speak of memory that could not be had.
bool runtime_ran_out_of_memory() noexcept;

}  // namespace eliza::llm
