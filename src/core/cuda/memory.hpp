// Memory of a GPU, and plans that lie there with all that they point to.
#pragma once

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "../plan.hpp"

namespace torchalu {

inline void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(error));
}

// Memory that is freed with its owner.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(const DeviceMemory &) = delete;
  DeviceMemory &operator=(const DeviceMemory &) = delete;
  ~DeviceMemory() {
    for (void *p : blocks_) cudaFree(p);
  }
  template <class T> T *take(std::size_t count) {
    void *p = nullptr;
    check(cudaMalloc(&p, count * sizeof(T) + 1));
    blocks_.push_back(p);
    return static_cast<T *>(p);
  }
  template <class T> T *copy(const T *from, std::size_t count) {
    T *p = take<T>(count);
    check(cudaMemcpy(p, from, count * sizeof(T), cudaMemcpyHostToDevice));
    return p;
  }

 private:
  std::vector<void *> blocks_;
};

// A plan in a GPU's memory. Its state is brought back by `fetch`.
class DevicePlan {
 public:
  DevicePlan(const Plan &plan, bool stores_rows, DeviceMemory &memory);
  const Plan *device() const { return device_; }
  // The status and the step of each replica, and all of the state.
  void fetch_progress() const;
  void fetch() const;

 private:
  struct Mirror {
    void *host;
    void *device;
    std::size_t bytes;
  };
  template <class T> void mirror(T *&p, std::size_t count, DeviceMemory &memory) {
    T *host = p;
    p = memory.copy(host, count);
    mirrors_.push_back({host, p, count * sizeof(T)});
  }

  const Plan *device_;
  std::vector<Mirror> mirrors_;  // the first two are the step and the status
};

}  // namespace torchalu
