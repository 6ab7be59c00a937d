// What Python hands to a trainer, as a team; for the bindings of the CPU's and of the GPU's.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <deque>
#include <exception>
#include <tuple>
#include <vector>

#include "plan.hpp"

namespace torchalu {

namespace nb = nanobind;

using Array = nb::ndarray<nb::c_contig, nb::device::cpu>;
using Doubles = nb::ndarray<double, nb::c_contig, nb::device::cpu>;
using Indices = nb::ndarray<std::int32_t, nb::c_contig, nb::device::cpu>;
using LayerTuple = std::tuple<int, int, int, int, int, bool, bool, double, double, double>;
using RangeTuple = std::tuple<double, double, double, double, bool>;
// operation, subsets, ranges, the inputs' common share, evaluation rows, noise
using SampledTuple = std::tuple<int, Indices, Indices, RangeTuple, RangeTuple, double, std::int64_t, double>;
using TableTuple = std::tuple<Array, Array, Array, std::int64_t>;

inline bool is_double(const Array &a) {
  if (a.dtype() == nb::dtype<double>()) return true;
  if (a.dtype() == nb::dtype<float>()) return false;
  throw nb::type_error("expected float32 or float64");
}

inline Range to_range(const RangeTuple &t) {
  return {std::get<0>(t), std::get<1>(t), std::get<2>(t), std::get<3>(t), std::get<4>(t)};
}

inline Table to_table(const TableTuple &t) {
  const auto &[x, y, weight, rows] = t;
  return {x.data(), y.data(), weight.data(), rows, std::int64_t(weight.shape(0))};
}

using Longs = nb::ndarray<std::int64_t, nb::c_contig, nb::device::cpu>;
// As State in plan.hpp.
using StateTuple = std::tuple<Array, Array, Array, Array, Longs, nb::ndarray<std::int8_t, nb::c_contig, nb::device::cpu>,
                              Doubles, Doubles, Doubles, Longs, Indices, Indices, Doubles>;
// stop_below, stop_patience, goal, settle, stall
using StopTuple = std::tuple<double, int, double, std::int64_t, std::int64_t>;
// layers, sampled task, table, validation, hyperparameters, rules, stop, state
using MemberTuple = std::tuple<std::vector<LayerTuple>, std::optional<SampledTuple>, std::optional<TableTuple>,
                               std::optional<TableTuple>, Doubles, Doubles, StopTuple, StateTuple>;

// What a plan points to.
struct Member {
  std::vector<Layer> layers;
  SampledTask sampled{};
};

inline Plan to_plan(const MemberTuple &tuple, Member &member) {
  const auto &[layer_tuples, sampled, table, validation, hyper, rules, stop, state] = tuple;
  for (const auto &[kind, in, out, offset, parametrization, bias, separate, eps, low, high] : layer_tuples)
    member.layers.push_back(
        {Kind(kind), in, out, offset, Parametrization(parametrization), bias, separate, eps, low, high,
         member.layers.empty()});
  Plan plan{};
  plan.layers = member.layers.data();
  plan.layer_count = int(member.layers.size());
  plan.in_features = member.layers.front().in;
  plan.out_features = member.layers.back().out;
  if (sampled) {
    const auto &[operation, first, second, training, extrapolation, common, rows, noise] = *sampled;
    member.sampled = {Operation(operation),
                      first.data(),
                      second.data(),
                      int(first.shape(1)),
                      int(second.shape(1)),
                      {to_range(training), common},
                      {to_range(extrapolation), common},
                      rows,
                      noise};
    plan.sampled = &member.sampled;
  }
  if (table) plan.table = to_table(*table);
  if (validation) plan.validation = to_table(*validation);
  const auto &[parameters, m, v, best, step, status, best_validation, best_extrapolation, improved_to, improved_at,
               patience, count, records] = state;
  const std::size_t n = parameters.shape(0), p = parameters.shape(1);
  plan.parameter_count = int(p);
  plan.replicas = int(n);
  const double *h = hyper.data(), *q = rules.data();
  plan.hyper = {h, h + n, h + 2 * n, h + 3 * n, h + 4 * n, h + 5 * n};
  plan.rules = {q, q + p, q + 2 * p, q + 3 * p, q + 4 * p};
  std::tie(plan.stop_below, plan.stop_patience, plan.goal, plan.settle, plan.stall) = stop;
  plan.max_records = std::int64_t(records.shape(1));
  plan.state = {parameters.data(),  m.data(),           v.data(),           best.data(),     step.data(),
                status.data(),      best_validation.data(), best_extrapolation.data(), improved_to.data(),
                improved_at.data(), patience.data(),    count.data(),       records.data()};
  return plan;
}

// betas and eps
using AdamTuple = std::tuple<double, double, double>;
using Identities = nb::ndarray<std::uint64_t, nb::c_contig, nb::device::cpu>;

// The plans of a team, with what they point to.
class TeamOfTuples {
 public:
  TeamOfTuples(const std::vector<MemberTuple> &tuples, int batch_size, std::uint64_t seed, const Identities &replica_ids,
               const AdamTuple &adam, std::int64_t steps, std::int64_t evaluate_every) {
    for (const MemberTuple &tuple : tuples) {
      Plan plan = to_plan(tuple, members_.emplace_back());
      plan.batch_size = batch_size;
      plan.seed = seed;
      plan.replica_ids = replica_ids.data();
      std::tie(plan.beta1, plan.beta2, plan.adam_eps) = adam;
      plan.steps = steps;
      plan.evaluate_every = evaluate_every;
      plans_.push_back(plan);
    }
  }
  Team team() const { return {plans_.data(), int(plans_.size())}; }

 private:
  std::deque<Member> members_;
  std::vector<Plan> plans_;
};

// Runs `work`, which trains and now and then calls its argument with the steps done, without the
// lock of Python's interpreter; `poll` and signals are asked with it.
template <class Work> bool run_with_poll(const nb::callable &poll, Work &&work) {
  std::exception_ptr raised;
  bool completed = false;
  {
    const nb::gil_scoped_release release;
    completed = work([&](std::int64_t done) {
      const nb::gil_scoped_acquire acquire;
      try {
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        return nb::cast<bool>(poll(done));
      } catch (...) {
        raised = std::current_exception();
        return false;
      }
    });
  }
  if (raised) std::rethrow_exception(raised);
  return completed;
}

}  // namespace torchalu
