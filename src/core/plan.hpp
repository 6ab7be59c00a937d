// What the trainer is asked to do, as plain data that every instruction set reads alike.
#pragma once

#include <cstddef>
#include <cstdint>

namespace torchalu {

enum class Kind : int {
  kLinear, kNMU, kNAC, kNACMul, kNALU, kGatedNAUNMU, kRealNPU, kNPU, kReLU, kReLU6, kNMRU, kSNMU, kINALU
};
enum class Parametrization : int { kTanhSigmoid, kSigmoid, kClamped, kClampedForward };
enum class Operation : int { kAdd, kSubtract, kMultiply, kDivide, kSquare, kRoot };
enum class Status : std::int8_t { kRunning, kFinished, kStopped, kNaN };

// One layer of the stack. Its parameters lie at `offset`, in the order of the module's
// state_dict, each tensor row-major (out, in).
struct Layer {
  Kind kind;
  int in, out, offset;
  Parametrization parametrization;
  bool bias, separate;
  // Of an sNMU's noise, or what weights are clamped to in the forward pass; `high` is an iNALU's
  // greatest exponent.
  double eps, low, high;
  bool first;  // its input are the rows of the task
};

// Uniform on [low, high), or on [low, high) and [low2, high2) with probability 1/2 each.
struct Range {
  double low, high, low2, high2;
  bool two_sided;
};

// Inputs drawn on a range. Each is (1 - common) of its own number and `common` of one that all
// inputs of a row share, which correlates them.
struct Sampling {
  Range range;
  double common;
};

// target = operation(sum of x over the first subset, sum of x over the second), x sampled, times
// 1 + noise z with a normal z, except on the extrapolation range. Replica r uses the indices
// first[r * first_size ..] and second[r * second_size ..].
struct SampledTask {
  Operation operation;
  const std::int32_t *first, *second;
  int first_size, second_size;
  Sampling training, extrapolation;
  std::int64_t evaluation_rows;
  double noise;
};

// Rows of real data, feature by feature; every feature holds `rows` values and then the first
// values again (`stride` - `rows` of them), so that a slice may run over the end.
struct Table {
  const void *x, *y, *weight;
  std::int64_t rows, stride;
};

// One value a replica in each array.
struct Hyperparameters {
  const double *learning_rate, *penalty, *penalty_start, *penalty_end, *clip_norm, *clip_value;
};

// One value a parameter in each array.
struct ParameterRules {
  const double *low, *high;          // bounds that hold after each optimizer step
  const double *sparsity, *l1;       // coefficients of min(|w|, |1 - |w||) and of |w|
  const double *l1_until;            // the magnitude from which on |w| counts for nothing
};

// Owned by the caller, updated in place: a run that stops anywhere goes on from here.
struct State {
  void *parameters, *first_moment, *second_moment, *best_parameters;
  std::int64_t *step;
  std::int8_t *status;
  double *best_validation, *best_extrapolation;  // both at the lowest validation loss
  double *improved_to;                           // the lowest validation loss of 1% steps down,
  std::int64_t *improved_at;                     // and the step it was reached at
  std::int32_t *patience, *record_count;
  double *records;  // (replica, record, kRecordWidth)
};

inline constexpr int kRecordWidth = 5;  // step, training, validation, extrapolation, sparsity

// One setting: a stack, its task and how it is trained.
struct Plan {
  const Layer *layers;
  int layer_count, parameter_count, in_features, out_features;
  const SampledTask *sampled;  // or nullptr, and then:
  Table table, validation;
  int batch_size;
  std::uint64_t seed;
  const std::uint64_t *replica_ids;
  int replicas;
  Hyperparameters hyper;
  ParameterRules rules;
  double beta1, beta2, adam_eps;
  std::int64_t steps, evaluate_every, max_records;
  double stop_below;
  int stop_patience;
  double goal;                  // solved: extrapolation loss below it at the lowest validation loss
  std::int64_t settle, stall;   // steps without improvement after which a solved, an unsolved run ends
  State state;
};

// Settings that are trained side by side on the same inputs: they agree in the number of inputs,
// the batch size, seed, replicas, steps, evaluations and, where inputs are drawn, in the sampling.
// Of a replica, all that are still running stand at the same step.
struct Team {
  const Plan *plans;
  int size;
};

// Shared by the threads of one call; read and written with atomic builtins.
struct Control {
  int stop = 0;
  std::int64_t steps_done = 0;
};

// The NMU as an operator: row-major input (batch, in), weight (out, in), output (batch, out).
struct NMUOperands {
  const void *input, *weight, *grad_output;
  void *output, *grad_input;
  int in, out;
};

// The elementary functions, for tests of their accuracy.
enum class Elementary : int { kExp, kLog, kTanh, kSigmoid, kSin, kCos };

struct LogicOperands;  // in logic.hpp
struct RecurrenceOperands;  // in recurrence.hpp
struct RecurrenceGroup;
struct RecurrencePart;
struct RecurrenceMemory;
struct RecurrenceSizes;

// The functions that each instruction set provides. `scratch` holds one row vector.
struct Engine {
  const char *name;
  std::size_t (*workspace_bytes)(const Team &team, bool is_double);
  void (*train_replica)(const Team &team, int replica, void *workspace, Control &control, bool is_double);
  // Rows [begin, end) of a batch; `workspace` holds nmu_workspace_bytes. The backward pass adds
  // its rows' share to grad_weight and writes its rows of grad_input.
  std::size_t (*nmu_workspace_bytes)(int in, int out, bool is_double);
  void (*nmu_forward)(const NMUOperands &operands, std::int64_t begin, std::int64_t end, void *workspace, bool is_double);
  void (*nmu_backward)(const NMUOperands &operands, std::int64_t begin, std::int64_t end, void *grad_weight,
                       void *workspace, bool is_double);
  void (*elementary)(Elementary function, const void *input, void *output, std::int64_t count, bool is_double);
  void (*sample)(std::uint64_t seed, std::uint64_t replica, std::uint64_t stream, std::uint64_t step,
                 const Sampling &sampling, int features, int rows, void *output, void *scratch, bool is_double);
  void (*normal)(std::uint64_t seed, std::uint64_t replica, std::uint64_t stream, std::uint64_t step, int rows,
                 void *output, void *scratch, bool is_double);
  // Positions [begin, end) of all rows; `workspace` holds logic_workspace_bytes.
  std::size_t (*logic_workspace_bytes)(const LogicOperands &operands);
  void (*logic_forward)(const LogicOperands &operands, std::int64_t begin, std::int64_t end, void *workspace);
  void (*logic_backward)(const LogicOperands &operands, std::int64_t begin, std::int64_t end, void *workspace);
  // The backward pass has `grad_state`. Memory starts as zeros; unpacking adds up the gradients of
  // all parts in their order.
  RecurrenceSizes (*recurrence_sizes)(const RecurrenceOperands &operands, const RecurrenceGroup &group);
  void (*recurrence_pack)(const RecurrenceOperands &operands, void *packed);
  void (*recurrence_run)(const RecurrenceOperands &operands, const RecurrenceGroup &group, const RecurrencePart &part,
                         const RecurrenceMemory &memory);
  void (*recurrence_unpack)(const RecurrenceOperands &operands, void *const *gradients, int count);
};

}  // namespace torchalu
