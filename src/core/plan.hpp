// What the trainer is asked to do, as plain data that every instruction set reads alike.
#pragma once

#include <cstddef>
#include <cstdint>

namespace torchalu {

enum class Kind : int { kLinear, kNMU, kNAC, kNACMul, kNALU, kGatedNAUNMU, kRealNPU, kNPU, kReLU, kReLU6 };
enum class Parametrization : int { kTanhSigmoid, kSigmoid, kClamped };
enum class Operation : int { kAdd, kSubtract, kMultiply, kDivide, kSquare, kRoot };
enum class Status : std::int8_t { kRunning, kFinished, kStopped, kNaN };

// One layer of the stack. Its parameters lie at `offset`, in the order of the module's
// state_dict, each tensor row-major (out, in).
struct Layer {
  Kind kind;
  int in, out, offset;
  Parametrization parametrization;
  bool bias, separate;
  double eps;
  bool first;  // its input are the rows of the task
};

// Uniform on [low, high), or on [low, high) and [low2, high2) with probability 1/2 each.
struct Range {
  double low, high, low2, high2;
  bool two_sided;
};

// target = operation(sum of x over the first subset, sum of x over the second), x sampled.
// Replica r uses the indices first[r * first_size ..] and second[r * second_size ..].
struct SampledTask {
  Operation operation;
  const std::int32_t *first, *second;
  int first_size, second_size;
  Range training, extrapolation;
  std::int64_t evaluation_rows;
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
};

// Owned by the caller, updated in place: a run that stops anywhere goes on from here.
struct State {
  void *parameters, *first_moment, *second_moment, *best_parameters;
  std::int64_t *step;
  std::int8_t *status;
  double *best_validation;
  std::int32_t *patience, *record_count;
  double *records;  // (replica, record, kRecordWidth)
};

inline constexpr int kRecordWidth = 5;  // step, training, validation, extrapolation, sparsity

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
  State state;
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

// The functions that each instruction set provides.
struct Engine {
  const char *name;
  std::size_t (*workspace_bytes)(const Plan &plan, bool is_double);
  void (*train_replica)(const Plan &plan, int replica, void *workspace, Control &control, bool is_double);
  // Rows [begin, end) of a batch; `workspace` holds nmu_workspace_bytes. The backward pass adds
  // its rows' share to grad_weight and writes its rows of grad_input.
  std::size_t (*nmu_workspace_bytes)(int in, int out, bool is_double);
  void (*nmu_forward)(const NMUOperands &operands, std::int64_t begin, std::int64_t end, void *workspace, bool is_double);
  void (*nmu_backward)(const NMUOperands &operands, std::int64_t begin, std::int64_t end, void *grad_weight,
                       void *workspace, bool is_double);
  void (*elementary)(Elementary function, const void *input, void *output, std::int64_t count, bool is_double);
  void (*sample)(std::uint64_t seed, std::uint64_t replica, std::uint64_t stream, std::uint64_t step,
                 const Range &range, int features, int rows, void *output, bool is_double);
};

}  // namespace torchalu
