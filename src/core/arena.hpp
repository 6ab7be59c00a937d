// Memory of one replica, taken in order from one block; without a block it only counts.
#pragma once

#include <cstddef>

namespace torchalu::TORCHALU_ISA {

inline constexpr std::size_t kAlignment = 64;

// The count rounded up so that the following element is aligned.
template <class T> inline std::size_t padded(std::size_t count) {
  constexpr std::size_t n = kAlignment / sizeof(T);
  return (count + n - 1) / n * n;
}

class Arena {
 public:
  explicit Arena(void *block) : block_(static_cast<char *>(block)) {}
  template <class T> T *take(std::size_t count) {
    T *p = block_ ? reinterpret_cast<T *>(block_ + used_) : nullptr;
    used_ += (count * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
    return p;
  }
  std::size_t used() const { return used_; }

 private:
  char *block_;
  std::size_t used_ = 0;
};

}  // namespace torchalu::TORCHALU_ISA
