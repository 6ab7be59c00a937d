#include "device.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "kernel.hpp"
#include "memory.hpp"
#include "shapes.hpp"

namespace torchalu {

#define TORCHALU_DECLARE(FX, FL) \
  template <> const Kernel &kernel_of<FX, FL>();
TORCHALU_SHAPES(TORCHALU_DECLARE)
#undef TORCHALU_DECLARE

namespace {

const Kernel &kernel_for(const Shape &shape) {
#define TORCHALU_CHOOSE(FX, FL) \
  if (shape.forms == FX && shape.log_forms == FL) return kernel_of<FX, FL>();
  TORCHALU_SHAPES(TORCHALU_CHOOSE)
#undef TORCHALU_CHOOSE
  throw std::logic_error("no kernel of this shape");
}

// What one multiprocessor has, and what each block takes of it beside its own.
struct Room {
  int bytes, a_block, reserved;
};

Room room_of_gpu() {
  Room room{};
  check(cudaDeviceGetAttribute(&room.bytes, cudaDevAttrMaxSharedMemoryPerMultiprocessor, 0));
  check(cudaDeviceGetAttribute(&room.a_block, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  check(cudaDeviceGetAttribute(&room.reserved, cudaDevAttrReservedSharedMemoryPerBlock, 0));
  return room;
}

// The settings whose first layers have the same shape, and so the same kernel.
class Group {
 public:
  Group(const Kernel &kernel, const Plan &plan, const Shares &shares)
      : kernel_(kernel), in_features_(plan.in_features), shares_(shares) {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  Group(const Group &) = delete;
  Group &operator=(const Group &) = delete;
  ~Group() { cudaStreamDestroy(stream_); }

  void add(const Plan &plan, const Plan *device) {
    settings_.push_back({&plan, device});
    workspace_bytes_ = std::max(workspace_bytes_, kernel_.workspace_bytes(plan, 0));
  }
  void allocate(DeviceMemory &memory) {
    const std::size_t most = settings_.size() * std::size_t(settings_[0].plan->replicas);
    jobs_ = memory.take<Job>(most);
    if (!share_out()) workspace_ = memory.take<char>(most * workspace_bytes_);
  }
  // Starts all that still run; how many these are.
  int launch(std::int64_t steps) {
    std::vector<Job> jobs;
    for (const Setting &s : settings_)
      for (int r = 0; r < s.plan->replicas; ++r)
        if (Status(s.plan->state.status[r]) == Status::kRunning && s.plan->state.step[r] < s.plan->steps)
          jobs.push_back({s.device, r});
    if (jobs.empty()) return 0;
    check(cudaMemcpyAsync(jobs_, jobs.data(), jobs.size() * sizeof(Job), cudaMemcpyHostToDevice, stream_));
    check(kernel_.launch({jobs_, int(jobs.size()), in_features_, kept_, workspace_, workspace_bytes_, steps}, stream_));
    return int(jobs.size());
  }
  void wait() { check(cudaStreamSynchronize(stream_)); }

 private:
  struct Setting {
    const Plan *plan, *device;
  };

  // Does the workspace fit into a warp's share of shared memory? Then what is left holds features.
  bool share_out() {
    const Room room = room_of_gpu();
    const int an_equal_share = room.bytes / std::max(1, shares_.warps) - room.reserved;
    const std::size_t share = std::size_t(std::clamp(an_equal_share, 0, room.a_block));
    const std::size_t forms = kernel_.fast_bytes(in_features_, 0);
    if (forms > std::size_t(room.a_block))
      throw std::invalid_argument(
          "the first layer of the stack has too many inputs and outputs for a GPU's shared memory; give fewer, or "
          "train with device='cpu'");
    const bool inside = forms + workspace_bytes_ <= share;
    const std::size_t used = forms + (inside ? workspace_bytes_ : 0);
    kept_ = shares_.kept >= 0 ? std::min(shares_.kept, in_features_) : in_features_;
    while (kept_ > 0 && used + kernel_.fast_bytes(in_features_, kept_) - forms > share) --kept_;
    return inside;
  }

  const Kernel &kernel_;
  int in_features_, kept_ = 0;
  Shares shares_;
  cudaStream_t stream_{};
  std::vector<Setting> settings_;
  std::size_t workspace_bytes_ = 0;
  Job *jobs_ = nullptr;
  char *workspace_ = nullptr;
};

// What the steps of finished replicas count for, as on the CPU: all of them.
std::int64_t steps_done(const Team &team, const std::vector<std::int64_t> &begun) {
  std::int64_t done = 0;
  std::size_t k = 0;
  for (int t = 0; t < team.size; ++t) {
    const Plan &p = team.plans[t];
    for (int r = 0; r < p.replicas; ++r, ++k) {
      const bool running = Status(p.state.status[r]) == Status::kRunning;
      done += (running ? p.state.step[r] : p.steps) - begun[k];
    }
  }
  return done;
}

}  // namespace

int gpu_count() {
  int count = 0;
  check(cudaGetDeviceCount(&count));
  return count;
}
std::string gpu_name() {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0));
  return properties.name;
}

bool train_on_gpu(const Team &team, const Shares &shares, const std::function<bool(std::int64_t)> &poll) {
  DeviceMemory memory;
  std::vector<std::unique_ptr<DevicePlan>> plans;
  std::map<std::pair<int, int>, std::unique_ptr<Group>> groups;
  std::vector<std::int64_t> begun;
  for (int k = 0; k < team.size; ++k) {
    const Plan &plan = team.plans[k];
    const Shape shape = shape_of(plan.layers[0]);
    plans.push_back(std::make_unique<DevicePlan>(plan, shape.stores_rows(), memory));
    auto &group = groups[{shape.forms, shape.log_forms}];
    if (!group) group = std::make_unique<Group>(kernel_for(shape), plan, shares);
    group->add(plan, plans.back()->device());
    begun.insert(begun.end(), plan.state.step, plan.state.step + plan.replicas);
  }
  for (auto &[shape, group] : groups) group->allocate(memory);
  check(cudaDeviceSynchronize());  // the copies above do not wait, and the groups' streams not for them

  using Clock = std::chrono::steady_clock;
  bool completed = true;
  std::int64_t steps = shares.steps > 0 ? shares.steps : 64;
  while (completed) {
    const auto start = Clock::now();
    int running = 0;
    for (auto &[shape, group] : groups) running += group->launch(steps);
    if (running == 0) break;
    for (auto &[shape, group] : groups) group->wait();
    for (const auto &plan : plans) plan->fetch_progress();
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    const double longer = std::clamp(0.2 / seconds, 0.5, 8.0);
    if (shares.steps == 0) steps = std::max<std::int64_t>(1, std::int64_t(double(steps) * longer));
    completed = poll(steps_done(team, begun));
  }
  for (const auto &plan : plans) plan->fetch();
  return completed;
}

}  // namespace torchalu
