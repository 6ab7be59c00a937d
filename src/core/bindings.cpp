// torchalu._core: private to torchalu.engine and torchalu.kernels, which check their arguments.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <exception>
#include <stdexcept>
#include <tuple>

#include "dispatch.hpp"
#include "logic.hpp"
#include "recurrence.hpp"
#include "team_tuples.hpp"
#include "trainer.hpp"

using namespace torchalu;

namespace {

bool train_team(const std::vector<MemberTuple> &tuples, int batch_size, std::uint64_t seed, const Identities &replica_ids,
                const AdamTuple &adam, std::int64_t steps, std::int64_t evaluate_every, int threads,
                const nb::callable &poll) {
  const TeamOfTuples plans(tuples, batch_size, seed, replica_ids, adam, steps, evaluate_every);
  const bool wide = is_double(std::get<0>(std::get<7>(tuples.front())));
  return run_with_poll(poll, [&](const auto &ask) { return train(plans.team(), wide, threads, ask); });
}

// The matrix of a stack (matrices, rows, columns) with a number.
void *matrix(const Array &stack, std::size_t number) {
  return static_cast<char *>(stack.data()) + number * stack.shape(1) * stack.shape(2) * stack.itemsize();
}

void forward(const Array &input, const Array &weight, const Array &output, int threads) {
  const bool wide = is_double(input);
  const nb::gil_scoped_release release;
  for (std::size_t k = 0; k < input.shape(0); ++k) {
    const NMUOperands op{matrix(input, k), matrix(weight, k), nullptr, matrix(output, k), nullptr,
                         int(weight.shape(2)), int(weight.shape(1))};
    nmu_forward(op, std::int64_t(input.shape(1)), wide, threads);
  }
}

void backward(const Array &grad_output, const Array &input, const Array &weight, const Array &grad_input,
              const Array &grad_weight, int threads) {
  const bool wide = is_double(input);
  const nb::gil_scoped_release release;
  if (grad_weight.nbytes()) std::memset(grad_weight.data(), 0, grad_weight.nbytes());
  for (std::size_t k = 0; k < input.shape(0); ++k) {
    const NMUOperands op{matrix(input, k), matrix(weight, k), matrix(grad_output, k), nullptr, matrix(grad_input, k),
                         int(weight.shape(2)), int(weight.shape(1))};
    nmu_backward(op, matrix(grad_weight, k), std::int64_t(input.shape(1)), wide, threads);
  }
}

// functions, means and scales of the members, and whether they partition the positions
using MembersTuple = std::tuple<std::vector<int>, std::vector<double>, std::vector<double>, bool>;
using Slopes = nb::ndarray<std::int8_t, nb::c_contig, nb::device::cpu>;

Number to_number(const Array &a) {
  if (a.dtype() == nb::dtype<std::int16_t>()) return Number::kBFloat16;  // its bits
  return is_double(a) ? Number::kDouble : Number::kFloat;
}

std::vector<LogicMember> to_members(const MembersTuple &tuple) {
  const auto &[functions, means, scales, partition] = tuple;
  std::vector<LogicMember> members;
  for (std::size_t t = 0; t < functions.size(); ++t) members.push_back({Logic(functions[t]), means[t], scales[t]});
  return members;
}

// `shaped` is (rows, groups, k, inner).
LogicOperands to_operands(const Array &shaped, const std::vector<LogicMember> &members, bool partition) {
  LogicOperands op{};
  op.members = members.data(), op.member_count = int(members.size()), op.partition = partition;
  op.rows = shaped.shape(0), op.groups = shaped.shape(1), op.k = int(shaped.shape(2)), op.inner = shaped.shape(3);
  op.number = to_number(shaped);
  return op;
}

void forward_logic(const Array &input, const Array &output, const std::optional<Slopes> &slopes,
                   const MembersTuple &tuple, int threads) {
  const std::vector<LogicMember> members = to_members(tuple);
  LogicOperands op = to_operands(input, members, std::get<3>(tuple));
  op.input = input.data(), op.output = output.data(), op.slopes = slopes ? slopes->data() : nullptr;
  const nb::gil_scoped_release release;
  logic_forward(op, threads);
}

void backward_logic(const Array &grad_output, const std::optional<Array> &input, const std::optional<Slopes> &slopes,
                    const Array &grad_input, const MembersTuple &tuple, int threads) {
  const std::vector<LogicMember> members = to_members(tuple);
  LogicOperands op = to_operands(grad_input, members, std::get<3>(tuple));
  op.grad_output = grad_output.data(), op.grad_input = grad_input.data();
  op.input = input ? input->data() : nullptr, op.slopes = slopes ? slopes->data() : nullptr;
  const nb::gil_scoped_release release;
  logic_backward(op, threads);
}

// whether the cell is diagonal, whether its gates are cut off, and the levels of its state
using CellTuple = std::tuple<bool, bool, int>;
// the dropout's probabilities, the amplitude of the noise, and the seed of both
using RandomTuple = std::tuple<std::optional<Doubles>, double, std::uint64_t>;

RecurrenceOperands to_recurrence(const Array &state, const Longs &lengths, const Longs &steps, const Array &candidate,
                                 const CellTuple &cell, const RandomTuple &random) {
  RecurrenceOperands op{};
  const auto size = [](const Array &a, int k) { return int(a.shape(k)); };
  const auto &[diagonal, cutoff, levels] = cell;
  op.shape = {diagonal,       cutoff,         levels, size(state, 2), size(state, 3), size(candidate, 0),
              size(candidate, 1), size(candidate, 4), size(candidate, 5)};
  op.is_double = is_double(state);
  op.batch = std::int64_t(state.shape(0)), op.length = std::int64_t(state.shape(1));
  op.lengths = lengths.data(), op.steps = steps.data();
  const auto &[keep, noise, seed] = random;
  op.keep = keep ? keep->data() : nullptr, op.noise = noise, op.key = recurrence_key(seed);
  op.candidate_weight = candidate.data();
  return op;
}

// Runs `work` without the lock of Python's interpreter; signals, as of Ctrl-C, are asked with it.
template <class Work> void run_with_signals(Work &&work) {
  std::exception_ptr raised;
  {
    const nb::gil_scoped_release release;
    work([&] {
      const nb::gil_scoped_acquire acquire;
      if (PyErr_CheckSignals() != 0) raised = std::make_exception_ptr(nb::python_error());
      return raised != nullptr;
    });
  }
  if (raised) std::rethrow_exception(raised);
}

std::int64_t recurrence_kept_size(const Array &state, const Longs &lengths, const Longs &steps, const Array &candidate,
                                  bool diagonal) {
  return recurrence_kept(to_recurrence(state, lengths, steps, candidate, {diagonal, true, 0}, {std::nullopt, 0, 0}));
}

using FourArrays = std::tuple<Array, Array, Array, Array>;
using FiveArrays = std::tuple<Array, Array, Array, Array, Array>;

void forward_recurrence(const Array &state, const Longs &lengths, const Longs &steps, const FourArrays &parameters,
                        const CellTuple &cell, const RandomTuple &random, const Array &output,
                        const Doubles &saturation, const std::optional<Array> &kept, int threads) {
  const auto &[gate_weight, gate_bias, candidate_weight, candidate_bias] = parameters;
  RecurrenceOperands op = to_recurrence(state, lengths, steps, candidate_weight, cell, random);
  op.state = state.data(), op.gate_weight = gate_weight.data(), op.gate_bias = gate_bias.data();
  op.candidate_bias = candidate_bias.data(), op.output = output.data(), op.saturation = saturation.data();
  op.kept = kept ? kept->data() : nullptr;
  run_with_signals([&](const Interrupted &interrupted) { recurrence_forward(op, threads, interrupted); });
}

void backward_recurrence(const Array &grad_output, const Doubles &grad_saturation, const Array &kept,
                         const Longs &lengths, const Longs &steps, const std::tuple<Array, Array> &weights,
                         const CellTuple &cell, const RandomTuple &random, const FiveArrays &grads, int threads) {
  const auto &[gate_weight, candidate_weight] = weights;
  RecurrenceOperands op = to_recurrence(grad_output, lengths, steps, candidate_weight, cell, random);
  op.grad_output = grad_output.data(), op.grad_saturation = grad_saturation.data(), op.kept = kept.data();
  op.gate_weight = gate_weight.data();
  op.grad_state = std::get<0>(grads).data(), op.grad_gate_weight = std::get<1>(grads).data();
  op.grad_gate_bias = std::get<2>(grads).data(), op.grad_candidate_weight = std::get<3>(grads).data();
  op.grad_candidate_bias = std::get<4>(grads).data();
  run_with_signals([&](const Interrupted &interrupted) { recurrence_backward(op, threads, interrupted); });
}

void apply(const std::string &name, const Array &input, const Array &output) {
  static const char *const names[] = {"exp", "log", "tanh", "sigmoid", "sin", "cos"};
  for (int k = 0; k < 6; ++k)
    if (name == names[k])
      return current_engine().elementary(Elementary(k), input.data(), output.data(), std::int64_t(input.size()), is_double(input));
  throw nb::value_error("function must be exp, log, tanh, sigmoid, sin or cos");
}

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "The native trainer and operators of torchalu; private.";
  m.def("instruction_set", [] { return std::string(current_engine().name); });
  m.def("instruction_sets", [] {
    std::vector<std::string> names;
    for (const Engine *engine : available_engines()) names.emplace_back(engine->name);
    return names;
  });
  m.def("select_instruction_set", &select_engine, nb::arg("name"));
  m.def("train", &train_team, nb::arg("members"), nb::arg("batch_size"), nb::arg("seed"), nb::arg("replica_ids"),
        nb::arg("adam"), nb::arg("steps"), nb::arg("evaluate_every"), nb::arg("threads"), nb::arg("poll"));
  m.def("nmu_forward", &forward, nb::arg("input"), nb::arg("weight"), nb::arg("output"), nb::arg("threads"));
  m.def("nmu_backward", &backward, nb::arg("grad_output"), nb::arg("input"), nb::arg("weight"), nb::arg("grad_input"),
        nb::arg("grad_weight"), nb::arg("threads"));
  m.def("logic_forward", &forward_logic, nb::arg("input"), nb::arg("output"), nb::arg("slopes").none(),
        nb::arg("members"), nb::arg("threads"));
  m.def("logic_backward", &backward_logic, nb::arg("grad_output"), nb::arg("input").none(), nb::arg("slopes").none(),
        nb::arg("grad_input"), nb::arg("members"), nb::arg("threads"));
  m.def("recurrence_kept", &recurrence_kept_size, nb::arg("state"), nb::arg("lengths"), nb::arg("steps"),
        nb::arg("candidate_weight"), nb::arg("diagonal"));
  m.def("recurrence_forward", &forward_recurrence, nb::arg("state"), nb::arg("lengths"), nb::arg("steps"),
        nb::arg("parameters"), nb::arg("cell"), nb::arg("random"), nb::arg("output"), nb::arg("saturation"),
        nb::arg("kept").none(), nb::arg("threads"));
  m.def("recurrence_backward", &backward_recurrence, nb::arg("grad_output"), nb::arg("grad_saturation"),
        nb::arg("kept"), nb::arg("lengths"), nb::arg("steps"), nb::arg("weights"), nb::arg("cell"),
        nb::arg("random"), nb::arg("grads"), nb::arg("threads"));
  m.def("elementary", &apply, nb::arg("function"), nb::arg("input"), nb::arg("output"));
  m.def("sample", [](std::uint64_t seed, std::uint64_t replica, std::uint64_t stream, std::uint64_t step,
                     const RangeTuple &range, const Array &output, double common) {
    const int features = int(output.shape(0)), rows = int(output.shape(1));
    const Block scratch = allocate(rows * sizeof(double));
    current_engine().sample(seed, replica, stream, step, {to_range(range), common}, features, rows, output.data(),
                            scratch.get(), is_double(output));
  }, nb::arg("seed"), nb::arg("replica"), nb::arg("stream"), nb::arg("step"), nb::arg("range"), nb::arg("output"),
     nb::arg("common") = 0.0);
  m.def("normal", [](std::uint64_t seed, std::uint64_t replica, std::uint64_t stream, std::uint64_t step,
                     const Array &output) {
    const int rows = int(output.size());
    const Block scratch = allocate(rows * sizeof(double));
    current_engine().normal(seed, replica, stream, step, rows, output.data(), scratch.get(), is_double(output));
  }, nb::arg("seed"), nb::arg("replica"), nb::arg("stream"), nb::arg("step"), nb::arg("output"));
}
