#define TORCHALU_WARP
#define TORCHALU_ISA warp
#include "emulated.hpp"

#include <vector>

#include "../trainer.hpp"
#include "shapes.hpp"
#include "warp_loop.hpp"

namespace torchalu {

namespace {

template <int FX, int FL> void train_plan(const Plan &plan, std::int64_t steps, int kept) {
  using Loop = warp::WarpLoop<float, FX, FL>;
  const Block workspace = allocate(Loop(plan, nullptr, nullptr, kept).bytes());
  const Block fast = allocate(Loop::fast_bytes(plan.in_features, kept));
  for (std::int64_t done = 0; done < plan.steps; done += steps)
    for (int r = 0; r < plan.replicas; ++r)
      Loop(plan, workspace.get(), static_cast<float *>(fast.get()), kept).run(r, steps);
}

}  // namespace

void train_emulated(const Team &team, std::int64_t steps, int kept) {
  for (int k = 0; k < team.size; ++k) {
    Plan plan = team.plans[k];
    std::vector<Layer> layers(plan.layers, plan.layers + plan.layer_count);
    plan.layers = layers.data();
    const Shape shape = shape_of(layers[0]);
    layers[0].first = !shape.stores_rows();
#define TORCHALU_TRAIN(FX, FL) \
  if (shape.forms == FX && shape.log_forms == FL) train_plan<FX, FL>(plan, steps, kept);
    TORCHALU_SHAPES(TORCHALU_TRAIN)
#undef TORCHALU_TRAIN
  }
}

}  // namespace torchalu
