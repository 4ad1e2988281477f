// How many CPU threads the engines may use.
#pragma once

namespace eliza::llm {

// ELIZA_THREADS if it is a positive number, else the physical cores that this process may run on.
// Throws Failure(INVALID_ARG) when ELIZA_THREADS is set to something else.
int cpu_threads();

}  // namespace eliza::llm
