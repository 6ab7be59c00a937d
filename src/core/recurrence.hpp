// The unrolled recurrence of the Neural GPUs, as plain data that every instruction set reads alike,
// and the threads over it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace torchalu {

struct RecurrenceShape {
  bool diagonal, cutoff;
  int levels;  // the state's numbers are rounded to multiples of 1 / levels; 0: they are not
  int width, maps, sets, layers, kernel_length, kernel_width;
};

// Row-major tensors as in torchalu.kernels.unroll. `keep` is null without dropout, `kept` without
// gradients.
struct RecurrenceOperands {
  RecurrenceShape shape;
  bool is_double;
  std::int64_t batch, length;
  const std::int64_t *lengths, *steps;
  const double *keep;
  double noise;
  std::uint32_t key;
  const void *state, *gate_weight, *gate_bias, *candidate_weight, *candidate_bias;
  void *output;
  double *saturation;
  void *kept;
  const void *grad_output;
  const double *grad_saturation;
  void *grad_state, *grad_gate_weight, *grad_gate_bias, *grad_candidate_weight, *grad_candidate_bias;
};

// A sequence of a group: its number in the batch, and its first position in the group.
struct RecurrenceSequence {
  std::int64_t number, length, steps, position;
};

// Positions of a group that take a step, and where what the backward pass needs of it lies, counted
// in numbers: layer l from kept + l * stride, the state first, then the gates and the candidate.
struct RecurrenceStep {
  std::int64_t positions, kept, stride, gates, candidate;
};

// Sequences that go from step to step together, those with the most steps first. Position p has
// row[p] in every buffer that has rows of zeros around the sequences, `border` of them.
struct RecurrenceGroup {
  const RecurrenceSequence *sequences;
  const std::int32_t *row, *sequence;
  const RecurrenceStep *steps;
  std::int64_t sequence_count, positions, rows, step_count;
  int border;
};

// A part of the work of one layer in one step, which needs its neighbors' parts of the phase before.
enum class Phase : int {
  kStart,          // the state of the first step
  kGates,          // gates, and the state that they let pass
  kCandidate,      // candidate, and the new state
  kNewState,       // backward: gradients of update gate and candidate
  kCandidateBack,  // backward: through the candidate's kernel
  kGatesBack       // backward: through the gates' kernel
};

struct RecurrencePart {
  Phase phase;
  std::int64_t step;
  int layer;
  std::int64_t begin, end;  // positions
};

// Memory of a group, and what its parts add up: gradients of the packed kernels, and of each of
// its sequences the saturation.
struct RecurrenceMemory {
  const void *packed;
  void *workspace;
  void *gradient;
  double *saturation;
};

// Bytes of the packed parameters, of the gradients of one part, and of a group's workspace.
struct RecurrenceSizes {
  std::size_t packed, gradient, workspace;
};

// Whether to break off; asked some times a second, on the thread that calls. What has been computed
// then is of no use.
using Interrupted = std::function<bool()>;

void recurrence_forward(const RecurrenceOperands &operands, int threads, const Interrupted &interrupted);
void recurrence_backward(const RecurrenceOperands &operands, int threads, const Interrupted &interrupted);

// How many numbers `kept` has.
std::int64_t recurrence_kept(const RecurrenceOperands &operands);

// 64 bits of a seed in 32.
std::uint32_t recurrence_key(std::uint64_t seed);

}  // namespace torchalu
