// Everything that is built once for each instruction set; TORCHALU_ISA names the namespace.
// Nothing of the standard library that leaves inline functions behind may be included from
// here: the linker would be free to keep the copy built for the newest processor.
#include "logic_pass.hpp"
#include "operators.hpp"
#include "recurrence_pass.hpp"
#include "team_loop.hpp"

namespace torchalu::TORCHALU_ISA {

namespace {

std::size_t workspace_bytes(const Team &team, bool is_double) {
  return is_double ? TeamLoop<double>(team, nullptr).bytes() : TeamLoop<float>(team, nullptr).bytes();
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

void train_replica(const Team &team, int replica, void *workspace, Control &control, bool is_double) {
  [[maybe_unused]] const FlushDenormals flush;
  if (is_double) TeamLoop<double>(team, workspace).run(replica, control);
  else TeamLoop<float>(team, workspace).run(replica, control);
}

void sample_any(std::uint64_t seed, std::uint64_t replica, std::uint64_t stream, std::uint64_t step,
                const Sampling &sampling, int features, int rows, void *output, void *scratch, bool is_double) {
  const auto draw = [&]<class T>(T *out) {
    sample<T>(seed, replica, stream, step, sampling, features, rows, out, static_cast<T *>(scratch));
  };
  if (is_double) draw(static_cast<double *>(output));
  else draw(static_cast<float *>(output));
}
void normal_any(std::uint64_t seed, std::uint64_t replica, std::uint64_t stream, std::uint64_t step, int rows,
                void *output, void *scratch, bool is_double) {
  const auto draw = [&]<class T>(T *out) {
    sample_normal<T>(seed, replica, stream, step, rows, out, static_cast<T *>(scratch));
  };
  if (is_double) draw(static_cast<double *>(output));
  else draw(static_cast<float *>(output));
}

RecurrenceSizes recurrence_sizes_any(const RecurrenceOperands &op, const RecurrenceGroup &group) {
  return op.is_double ? recurrence_sizes<double>(op, group) : recurrence_sizes<float>(op, group);
}
void recurrence_pack_any(const RecurrenceOperands &op, void *packed) {
  if (op.is_double) pack_recurrence<double>(op, packed);
  else pack_recurrence<float>(op, packed);
}
void recurrence_run_any(const RecurrenceOperands &op, const RecurrenceGroup &group, const RecurrencePart &part,
                        const RecurrenceMemory &memory) {
  [[maybe_unused]] const FlushDenormals flush;
  if (op.is_double) RecurrencePass<double>(op, group, part, memory).run();
  else RecurrencePass<float>(op, group, part, memory).run();
}
void recurrence_unpack_any(const RecurrenceOperands &op, void *const *gradients, int count) {
  if (op.is_double) unpack_recurrence<double>(op, gradients, count);
  else unpack_recurrence<float>(op, gradients, count);
}

}  // namespace

extern const Engine engine;
const Engine engine = {TORCHALU_ISA_NAME,    workspace_bytes,     train_replica,       nmu_workspace_any,
                       nmu_forward_any,      nmu_backward_any,    elementary_any,      sample_any,
                       normal_any,           logic_workspace_any, logic_forward_any,   logic_backward_any,
                       recurrence_sizes_any, recurrence_pack_any, recurrence_run_any,  recurrence_unpack_any};

}  // namespace torchalu::TORCHALU_ISA
