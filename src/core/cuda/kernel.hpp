// What the host knows of the kernels, each of which is compiled apart.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "../plan.hpp"

namespace torchalu {

// A replica of a setting, whose plan lies in the GPU's memory with all that it points to.
struct Job {
  const Plan *plan;
  int replica;
};

// `kept` features of a batch wait in shared memory from the forward to the backward pass. Without a
// `workspace` in global memory it lies there too.
struct Launch {
  const Job *jobs;
  int count, in_features, kept;
  char *workspace;
  std::size_t workspace_bytes;  // of one job
  std::int64_t steps;
};

struct Kernel {
  std::size_t (*workspace_bytes)(const Plan &plan, int kept);
  std::size_t (*fast_bytes)(int in_features, int kept);
  cudaError_t (*launch)(const Launch &launch, cudaStream_t stream);
};

template <int Forms, int LogForms> const Kernel &kernel_of();

}  // namespace torchalu
