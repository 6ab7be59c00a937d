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
#include "trainer.hpp"

namespace nb = nanobind;
using namespace torchalu;

namespace {

using Array = nb::ndarray<nb::c_contig, nb::device::cpu>;
using Doubles = nb::ndarray<double, nb::c_contig, nb::device::cpu>;
using Indices = nb::ndarray<std::int32_t, nb::c_contig, nb::device::cpu>;
using LayerTuple = std::tuple<int, int, int, int, int, bool, bool, double>;
using RangeTuple = std::tuple<double, double, double, double, bool>;
using SampledTuple = std::tuple<int, Indices, Indices, RangeTuple, RangeTuple, std::int64_t>;
using TableTuple = std::tuple<Array, Array, Array, std::int64_t>;

bool is_double(const Array &a) {
  if (a.dtype() == nb::dtype<double>()) return true;
  if (a.dtype() == nb::dtype<float>()) return false;
  throw nb::type_error("expected float32 or float64");
}

Range to_range(const RangeTuple &t) {
  return {std::get<0>(t), std::get<1>(t), std::get<2>(t), std::get<3>(t), std::get<4>(t)};
}

Table to_table(const TableTuple &t) {
  const auto &[x, y, weight, rows] = t;
  return {x.data(), y.data(), weight.data(), rows, std::int64_t(weight.shape(0))};
}

using ArraysTuple = std::tuple<Array, Array, Array, Array, nb::ndarray<std::int64_t, nb::c_contig, nb::device::cpu>,
                               nb::ndarray<std::int8_t, nb::c_contig, nb::device::cpu>, Doubles, Indices, Indices, Doubles>;

bool train_replicas(const std::vector<LayerTuple> &layer_tuples, std::optional<SampledTuple> sampled_tuple,
                    std::optional<TableTuple> table, std::optional<TableTuple> validation, int batch_size,
                    std::uint64_t seed, nb::ndarray<std::uint64_t, nb::c_contig, nb::device::cpu> replica_ids,
                    Doubles hyper, Doubles rules, std::tuple<double, double, double> adam, std::int64_t steps,
                    std::int64_t evaluate_every, double stop_below, int stop_patience, const ArraysTuple &state,
                    int threads, const nb::callable &poll) {
  std::vector<Layer> layers;
  for (const auto &[kind, in, out, offset, parametrization, bias, separate, eps] : layer_tuples)
    layers.push_back({Kind(kind), in, out, offset, Parametrization(parametrization), bias, separate, eps, layers.empty()});
  SampledTask sampled{};
  if (sampled_tuple) {
    const auto &[operation, first, second, training, extrapolation, rows] = *sampled_tuple;
    sampled = {Operation(operation), first.data(), second.data(), int(first.shape(1)), int(second.shape(1)),
               to_range(training), to_range(extrapolation), rows};
  }
  const auto &[parameters, m, v, best, step, status, best_validation, patience, count, records] = state;
  const std::size_t n = parameters.shape(0), p = parameters.shape(1);
  Plan plan{};
  plan.layers = layers.data();
  plan.layer_count = int(layers.size());
  plan.parameter_count = int(p);
  plan.in_features = layers.front().in;
  plan.out_features = layers.back().out;
  plan.sampled = sampled_tuple ? &sampled : nullptr;
  if (table) plan.table = to_table(*table);
  if (validation) plan.validation = to_table(*validation);
  plan.batch_size = batch_size;
  plan.seed = seed;
  plan.replica_ids = replica_ids.data();
  plan.replicas = int(n);
  const double *h = hyper.data();
  plan.hyper = {h, h + n, h + 2 * n, h + 3 * n, h + 4 * n, h + 5 * n};
  const double *q = rules.data();
  plan.rules = {q, q + p, q + 2 * p, q + 3 * p};
  std::tie(plan.beta1, plan.beta2, plan.adam_eps) = adam;
  plan.steps = steps;
  plan.evaluate_every = evaluate_every;
  plan.max_records = std::int64_t(records.shape(1));
  plan.stop_below = stop_below;
  plan.stop_patience = stop_patience;
  plan.state = {parameters.data(), m.data(),     v.data(),     best.data(), step.data(),
                status.data(),     best_validation.data(), patience.data(), count.data(), records.data()};

  std::exception_ptr raised;
  bool completed = false;
  {
    const nb::gil_scoped_release release;
    completed = train(plan, is_double(parameters), threads, [&](std::int64_t done) {
      const nb::gil_scoped_acquire acquire;
      try {
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        poll(done);
        return true;
      } catch (...) {
        raised = std::current_exception();
        return false;
      }
    });
  }
  if (raised) std::rethrow_exception(raised);
  return completed;
}

void forward(const Array &input, const Array &weight, const Array &output, int threads) {
  const NMUOperands op{input.data(), weight.data(), nullptr, output.data(), nullptr, int(weight.shape(1)), int(weight.shape(0))};
  const bool wide = is_double(input);
  const nb::gil_scoped_release release;
  nmu_forward(op, std::int64_t(input.shape(0)), wide, threads);
}

void backward(const Array &grad_output, const Array &input, const Array &weight, const Array &grad_input,
              const Array &grad_weight, int threads) {
  const NMUOperands op{input.data(), weight.data(), grad_output.data(), nullptr, grad_input.data(), int(weight.shape(1)),
                       int(weight.shape(0))};
  const bool wide = is_double(input);
  const nb::gil_scoped_release release;
  std::memset(grad_weight.data(), 0, grad_weight.nbytes());
  nmu_backward(op, grad_weight.data(), std::int64_t(input.shape(0)), wide, threads);
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
  m.def("train", &train_replicas, nb::arg("layers"), nb::arg("sampled").none(), nb::arg("table").none(),
        nb::arg("validation").none(), nb::arg("batch_size"), nb::arg("seed"), nb::arg("replica_ids"), nb::arg("hyper"),
        nb::arg("rules"), nb::arg("adam"), nb::arg("steps"), nb::arg("evaluate_every"), nb::arg("stop_below"),
        nb::arg("stop_patience"), nb::arg("state"), nb::arg("threads"), nb::arg("poll"));
  m.def("nmu_forward", &forward, nb::arg("input"), nb::arg("weight"), nb::arg("output"), nb::arg("threads"));
  m.def("nmu_backward", &backward, nb::arg("grad_output"), nb::arg("input"), nb::arg("weight"), nb::arg("grad_input"),
        nb::arg("grad_weight"), nb::arg("threads"));
  m.def("elementary", &apply, nb::arg("function"), nb::arg("input"), nb::arg("output"));
  m.def("sample", [](std::uint64_t seed, std::uint64_t replica, std::uint64_t stream, std::uint64_t step,
                     const RangeTuple &range, const Array &output) {
    current_engine().sample(seed, replica, stream, step, to_range(range), int(output.shape(0)), int(output.shape(1)),
                            output.data(), is_double(output));
  }, nb::arg("seed"), nb::arg("replica"), nb::arg("stream"), nb::arg("step"), nb::arg("range"), nb::arg("output"));
}
