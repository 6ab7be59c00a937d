// Memory of one replica, taken in order from one block; without a block it only counts.
#pragma once

#include "simd.hpp"

namespace torchalu::TORCHALU_ISA {

inline constexpr std::size_t kAlignment = kRegisterBytes > 64 ? kRegisterBytes : 64;

// The count rounded up so that the following element is aligned.
template <class T> TORCHALU_DEVICE inline std::size_t padded(std::size_t count) {
  constexpr std::size_t n = kAlignment / sizeof(T);
  return (count + n - 1) / n * n;
}

class Arena {
 public:
  TORCHALU_DEVICE explicit Arena(void *block) : block_(static_cast<char *>(block)) {}
  template <class T> TORCHALU_DEVICE T *take(std::size_t count) {
    T *p = block_ ? reinterpret_cast<T *>(block_ + used_) : nullptr;
    used_ += (count * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
    return p;
  }
  TORCHALU_DEVICE std::size_t used() const { return used_; }

 private:
  char *block_;
  std::size_t used_ = 0;
};

}  // namespace torchalu::TORCHALU_ISA
