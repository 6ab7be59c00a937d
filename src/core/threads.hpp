// Threads over parts of a range.
#pragma once

#include <cstdint>
#include <functional>

namespace torchalu {

// Calls body(begin, end, part) for contiguous parts of [0, count), on this thread and on at most
// `threads` - 1 others that wait between the calls. Whoever is free takes the next part.
void divide(std::int64_t count, int parts, int threads,
            const std::function<void(std::int64_t, std::int64_t, int)> &body);

}  // namespace torchalu
