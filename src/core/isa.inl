// Everything that is built once for each instruction set; TORCHALU_ISA names the namespace.
// Nothing of the standard library that leaves inline functions behind may be included from
// here: the linker would be free to keep the copy built for the newest processor.
#include "operators.hpp"
#include "replica.hpp"

namespace torchalu::TORCHALU_ISA {

namespace {

std::size_t workspace_bytes(const Plan &plan, bool is_double) {
  return is_double ? Replica<double>(plan, nullptr).bytes() : Replica<float>(plan, nullptr).bytes();
}

// Takes numbers too small for the normal exponents as 0 while it lives: each would cost a hundred
// cycles, and saturated gates make many. It changes the calling thread alone.
class FlushDenormals {
 public:
#if defined(__x86_64__) || defined(_M_X64)
  FlushDenormals() : before_(__builtin_ia32_stmxcsr()) { __builtin_ia32_ldmxcsr(before_ | 0x8040u); }
  ~FlushDenormals() { __builtin_ia32_ldmxcsr(before_); }

 private:
  unsigned before_;
#elif defined(__aarch64__)
  FlushDenormals() {
    __asm__ volatile("mrs %0, fpcr" : "=r"(before_));
    __asm__ volatile("msr fpcr, %0" : : "r"(before_ | (1ull << 24)));
  }
  ~FlushDenormals() { __asm__ volatile("msr fpcr, %0" : : "r"(before_)); }

 private:
  std::uint64_t before_;
#endif
};

void train_replica(const Plan &plan, int replica, void *workspace, Control &control, bool is_double) {
  [[maybe_unused]] const FlushDenormals flush;
  if (is_double) Replica<double>(plan, workspace).run(replica, control);
  else Replica<float>(plan, workspace).run(replica, control);
}

template <class T>
void sample_rows(std::uint64_t seed, std::uint64_t replica, std::uint64_t stream, std::uint64_t step, const Range &range,
                 int features, int rows, void *output) {
  sample<T>(seed, replica, stream, step, range, features, rows, static_cast<T *>(output));
}

void sample_any(std::uint64_t seed, std::uint64_t replica, std::uint64_t stream, std::uint64_t step, const Range &range,
                int features, int rows, void *output, bool is_double) {
  if (is_double) sample_rows<double>(seed, replica, stream, step, range, features, rows, output);
  else sample_rows<float>(seed, replica, stream, step, range, features, rows, output);
}

}  // namespace

extern const Engine engine;
const Engine engine = {TORCHALU_ISA_NAME, workspace_bytes,      train_replica,  nmu_workspace_any,
                       nmu_forward_any,   nmu_backward_any,     elementary_any, sample_any};

}  // namespace torchalu::TORCHALU_ISA
