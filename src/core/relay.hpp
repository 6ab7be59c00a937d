// Threads over phases, each of which needs all of the one before.
#pragma once

#include <cstdint>
#include <functional>

namespace torchalu {

// Calls work(phase, part) for the parts 0 .. parts(phase) - 1 of phase 0, then of phase 1 and so
// on, on this thread and on at most `threads` - 1 others. Whoever is free takes the next part, so
// that nobody waits for a thread that has not come.
void relay(std::int64_t phases, int threads, const std::function<int(std::int64_t)> &parts,
           const std::function<void(std::int64_t, int)> &work);

}  // namespace torchalu
