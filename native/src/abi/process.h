// Threads do not survive a fork, so neither does an engine.
#pragma once

namespace eliza {

// The first call makes this process the owner of the library's engines.
void own_process() noexcept;

// Whether this is a child that was forked after that. Its copies of threads and locks are dead: nothing may be computed
// or taken down, only left alone until the child runs a program of its own.
bool is_forked_child() noexcept;

}  // namespace eliza
