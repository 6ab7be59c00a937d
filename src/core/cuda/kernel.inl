// The kernel for one shape of first layer: TORCHALU_FX forms of the inputs, TORCHALU_FL of their logs.
#define TORCHALU_WARP
#define TORCHALU_ISA gpu
#include "kernel.hpp"
#include "warp_loop.hpp"

namespace torchalu {

namespace {

constexpr int kForms = TORCHALU_FX, kLogForms = TORCHALU_FL;
using Loop = gpu::WarpLoop<float, kForms, kLogForms>;

// Blocks that a multiprocessor has registers for: fewer where more forms lie in them.
constexpr int kBlocks = kForms + kLogForms <= 6 ? 16 : kForms + kLogForms <= 12 ? 12 : 8;

// A block, which is a warp, for each job.
__global__ void __launch_bounds__(32, kBlocks)
    train_kernel(const Job *jobs, char *workspace, std::size_t bytes, int kept, std::int64_t steps) {
  extern __shared__ __align__(128) char fast[];
  const Job job = jobs[blockIdx.x];
  char *own = workspace ? workspace + blockIdx.x * bytes : fast;
  auto *forms = reinterpret_cast<float *>(workspace ? fast : fast + bytes);
  Loop(*job.plan, own, forms, kept).run(job.replica, steps);
}

std::size_t workspace_bytes(const Plan &plan, int kept) { return Loop(plan, nullptr, nullptr, kept).bytes(); }

cudaError_t launch(const Launch &l, cudaStream_t stream) {
  const std::size_t fast = Loop::fast_bytes(l.in_features, l.kept) + (l.workspace ? 0 : l.workspace_bytes);
  if (const cudaError_t error =
          cudaFuncSetAttribute(train_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(fast)))
    return error;
  train_kernel<<<l.count, 32, fast, stream>>>(l.jobs, l.workspace, l.workspace_bytes, l.kept, l.steps);
  return cudaGetLastError();
}

}  // namespace

template <> const Kernel &kernel_of<kForms, kLogForms>() {
  static const Kernel kernel{workspace_bytes, Loop::fast_bytes, launch};
  return kernel;
}

}  // namespace torchalu
