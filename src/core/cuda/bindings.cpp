// torchalu._cuda: private to torchalu.engine, which checks its arguments.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "../team_tuples.hpp"
#include "device.hpp"

using namespace torchalu;

namespace {

bool train_team(const std::vector<MemberTuple> &tuples, int batch_size, std::uint64_t seed, const Identities &replica_ids,
                const AdamTuple &adam, std::int64_t steps, std::int64_t evaluate_every, const nb::callable &poll,
                int warps, int kept, std::int64_t launch_steps) {
  const TeamOfTuples plans(tuples, batch_size, seed, replica_ids, adam, steps, evaluate_every);
  const Shares shares{warps, kept, launch_steps};
  return run_with_poll(poll, [&](const auto &ask) { return train_on_gpu(plans.team(), shares, ask); });
}

}  // namespace

NB_MODULE(_cuda, m) {
  m.doc() = "The native trainer of torchalu on a GPU; private.";
  m.def("gpu_count", &gpu_count);
  m.def("gpu_name", &gpu_name);
  m.def("train", &train_team, nb::arg("members"), nb::arg("batch_size"), nb::arg("seed"), nb::arg("replica_ids"),
        nb::arg("adam"), nb::arg("steps"), nb::arg("evaluate_every"), nb::arg("poll"),
        nb::arg("warps") = Shares{}.warps, nb::arg("kept") = Shares{}.kept, nb::arg("launch_steps") = Shares{}.steps);
}
