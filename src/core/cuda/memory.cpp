#include "memory.hpp"

namespace torchalu {

DevicePlan::DevicePlan(const Plan &plan, bool stores_rows, DeviceMemory &memory) {
  Plan p = plan;
  const std::size_t replicas = std::size_t(plan.replicas), count = std::size_t(plan.parameter_count);
  std::vector<Layer> layers(plan.layers, plan.layers + plan.layer_count);
  layers[0].first = !stores_rows;
  p.layers = memory.copy(layers.data(), layers.size());
  p.replica_ids = memory.copy(plan.replica_ids, replicas);

  SampledTask task = *plan.sampled;
  task.first = memory.copy(task.first, replicas * task.first_size);
  task.second = memory.copy(task.second, replicas * task.second_size);
  p.sampled = memory.copy(&task, 1);

  Hyperparameters &h = p.hyper;
  for (const double **each : {&h.learning_rate, &h.penalty, &h.penalty_start, &h.penalty_end, &h.clip_norm, &h.clip_value})
    *each = memory.copy(*each, replicas);
  ParameterRules &r = p.rules;
  for (const double **each : {&r.low, &r.high, &r.sparsity, &r.l1, &r.l1_until}) *each = memory.copy(*each, count);

  State &s = p.state;
  mirror(s.step, replicas, memory);
  mirror(s.status, replicas, memory);
  for (void **each : {&s.parameters, &s.first_moment, &s.second_moment, &s.best_parameters}) {
    auto *numbers = static_cast<float *>(*each);
    mirror(numbers, replicas * count, memory);
    *each = numbers;
  }
  for (double **each : {&s.best_validation, &s.best_extrapolation, &s.improved_to}) mirror(*each, replicas, memory);
  mirror(s.improved_at, replicas, memory);
  mirror(s.patience, replicas, memory);
  mirror(s.record_count, replicas, memory);
  mirror(s.records, replicas * std::size_t(plan.max_records) * kRecordWidth, memory);
  device_ = memory.copy(&p, 1);
}

void DevicePlan::fetch_progress() const {
  for (std::size_t k = 0; k < 2; ++k)
    check(cudaMemcpy(mirrors_[k].host, mirrors_[k].device, mirrors_[k].bytes, cudaMemcpyDeviceToHost));
}
void DevicePlan::fetch() const {
  for (const Mirror &m : mirrors_) check(cudaMemcpy(m.host, m.device, m.bytes, cudaMemcpyDeviceToHost));
}

}  // namespace torchalu
