// torchalu._emulated: the GPU's loop on the CPU, a vector of 32 numbers for a warp: slow, and for
// tests alone.
#define TORCHALU_WARP
#define TORCHALU_ISA warp
#include "../team_tuples.hpp"
#include "../trainer.hpp"
#include "shapes.hpp"
#include "warp_loop.hpp"

using namespace torchalu;

namespace {

Block memory(std::size_t bytes) { return Block(::operator new(bytes, std::align_val_t(4096))); }

// `steps` steps at a time, as launches do; `kept` features wait in fast memory.
template <int FX, int FL> void train_plan(const Plan &plan, std::int64_t steps, int kept) {
  using Loop = warp::WarpLoop<float, FX, FL>;
  const Block workspace = memory(Loop(plan, nullptr, nullptr, kept).bytes());
  const Block fast = memory(Loop::fast_bytes(plan.in_features, kept));
  for (std::int64_t done = 0; done < plan.steps; done += steps)
    for (int r = 0; r < plan.replicas; ++r)
      Loop(plan, workspace.get(), static_cast<float *>(fast.get()), kept).run(r, steps);
}

void train_team(const std::vector<MemberTuple> &tuples, int batch_size, std::uint64_t seed, const Identities &replica_ids,
                const AdamTuple &adam, std::int64_t steps, std::int64_t evaluate_every, std::int64_t launch_steps,
                int kept) {
  const TeamOfTuples plans(tuples, batch_size, seed, replica_ids, adam, steps, evaluate_every);
  const Team &team = plans.team();
  for (int k = 0; k < team.size; ++k) {
    Plan plan = team.plans[k];
    std::vector<Layer> layers(plan.layers, plan.layers + plan.layer_count);
    plan.layers = layers.data();
    const Shape shape = shape_of(layers[0]);
    layers[0].first = !shape.stores_rows();
#define TORCHALU_TRAIN(FX, FL) \
  if (shape.forms == FX && shape.log_forms == FL) train_plan<FX, FL>(plan, launch_steps, kept);
    TORCHALU_SHAPES(TORCHALU_TRAIN)
#undef TORCHALU_TRAIN
  }
}

}  // namespace

NB_MODULE(_emulated, m) {
  m.doc() = "The native trainer's GPU form, emulated; for tests.";
  m.def("train", &train_team, nb::arg("members"), nb::arg("batch_size"), nb::arg("seed"), nb::arg("replica_ids"),
        nb::arg("adam"), nb::arg("steps"), nb::arg("evaluate_every"), nb::arg("launch_steps"), nb::arg("kept"));
}
