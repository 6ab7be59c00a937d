// Where the rows of a batch come from: drawn afresh, or a slice of a table.
#pragma once

#include "arena.hpp"
#include "log_space.hpp"
#include "plan.hpp"
#if defined(TORCHALU_WARP)
#include "cuda/draws.hpp"
#else
#include "uniform.hpp"
#endif

namespace torchalu::TORCHALU_ISA {

TORCHALU_DEVICE inline int padded_rows(std::int64_t rows) { return int((rows + kRowGroup - 1) / kRowGroup * kRowGroup); }

// Fills a batch whose features lie one behind the other; `scratch` holds one row vector.
template <class T> TORCHALU_OUTLINE
void sample(std::uint64_t seed, std::uint64_t replica, std::uint64_t stream, std::uint64_t step,
            const Sampling &sampling, int features, int rows, T *x, T *scratch) {
  draw_uniform<T>(mix(seed, replica, stream, step), sampling.range, std::ptrdiff_t(features) * rows, x);
  if (sampling.common == 0) return;
  draw_uniform<T>(mix(seed, replica, stream | kCommonStream, step), sampling.range, rows, scratch);
  const T common = T(sampling.common), own = T(1 - sampling.common);
  for_each_vector<T>(features, rows, [&](int i, int r) {
    T *at = x + std::ptrdiff_t(i) * rows + r;
    store(at, vec<T>(load(at) * own + load(scratch + r) * common));
  });
}

// Standard normal numbers by Box and Muller's transform, one for each row; `scratch` holds one row
// vector.
template <class T> TORCHALU_OUTLINE
void sample_normal(std::uint64_t seed, std::uint64_t replica, std::uint64_t stream, std::uint64_t step, int rows, T *out,
                   T *scratch) {
  constexpr double kPi = 3.14159265358979323846;
  const std::uint64_t key = mix(seed, replica, stream | kNoiseStream, step);
  std::uint64_t next = key;
  draw_uniform<T>(key, {0x1p-25, 1 + 0x1p-25, 0, 1, false}, rows, out);  // never 0
  draw_uniform<T>(splitmix64(next), {-kPi, kPi, 0, 1, false}, rows, scratch);
  for_each_vector<T>(1, rows, [&](int, int r) {
    vec<T> sine, cosine;
    sincos<T>(load(scratch + r), sine, cosine);
    store(out + r, vec<T>(square_root<T>(log<T>(load(out + r)) * T(-2)) * cosine));
  });
}

// out = sum of the features of a subset; several vectors of rows at once hide the latency of add.
template <class T, int VT> TORCHALU_DEVICE
inline void add_features_tile(const std::int32_t *subset, int size, const Batch<const T> &x, T *out, int r) {
  vec<T> sum[VT];
  for (int v = 0; v < VT; ++v) sum[v] = zero<T>();
  for (int k = 0; k < size; ++k)
    for (int v = 0; v < VT; ++v) sum[v] += load(x[subset[k]] + r + v * kLanes<T>);
  for (int v = 0; v < VT; ++v) store(out + r + v * kLanes<T>, sum[v]);
}
template <class T> TORCHALU_OUTLINE
inline void add_features(const std::int32_t *subset, int size, Batch<const T> x, T *out, int rows) {
  constexpr int VT = kWideTile;
  int r = 0;
  for (; r + VT * kLanes<T> <= rows; r += VT * kLanes<T>) add_features_tile<T, VT>(subset, size, x, out, r);
  for (; r < rows; r += kLanes<T>) add_features_tile<T, 1>(subset, size, x, out, r);
}

// y = operation(a, b).
template <class T> TORCHALU_OUTLINE void apply(Operation operation, const T *a, const T *b, T *y, int rows) {
  for (int r = 0; r < rows; r += kLanes<T>) {
    const vec<T> left = load(a + r), right = load(b + r);
    vec<T> result;
    switch (operation) {
      case Operation::kAdd: result = left + right; break;
      case Operation::kSubtract: result = left - right; break;
      case Operation::kMultiply: result = left * right; break;
      case Operation::kDivide: result = left / right; break;
      case Operation::kSquare: result = left * left; break;
      default: result = square_root<T>(left); break;
    }
    store(y + r, result);
  }
}

// A batch with its targets and the weight of each row in the mean (0 for padding).
template <class T> struct Rows {
  Batch<const T> x, y;
  const T *weight;
};

// The batches of a team: inputs drawn or sliced once for all of its settings, then the targets of
// one setting at a time.
template <class T> class Source {
 public:
  TORCHALU_DEVICE Source(const Team &team, Arena &arena, int rows)
      : plan_(team.plans[0]), rows_(rows),
        x_{plan_.sampled ? arena.take<T>(std::size_t(plan_.in_features) * rows) : nullptr, rows},
        y_{plan_.sampled ? arena.take<T>(std::size_t(plan_.out_features) * rows) : nullptr, rows},
        weight_(arena.take<T>(rows)), first_(arena.take<T>(rows)), second_(arena.take<T>(rows)),
        noise_(arena.take<T>(rows)), scratch_(arena.take<T>(rows)) {
    bool read = false;
    for (int k = 0; k < team.size; ++k) read = read || multiplies_logs(team.plans[k].layers[0]);
    logs_ = {read ? arena.take<T>(std::size_t(plan_.in_features) * rows) : nullptr, rows};
  }

  TORCHALU_DEVICE void training(int replica, std::int64_t step) {
    if (plan_.sampled) return draw(replica, kTraining, step, plan_.batch_size);
    const Table &t = plan_.table;
    const std::int64_t groups = (t.rows + kRowGroup - 1) / kRowGroup;
    std::int64_t start = 0;
    if (t.rows > plan_.batch_size)
      start = std::int64_t(mix(plan_.seed, plan_.replica_ids[replica], kTraining, step) % std::uint64_t(groups)) *
              kRowGroup;
    slice(t, start, plan_.batch_size);
  }

  // The block that begins at row `start` of a fixed set for evaluation; `count` rows of it count.
  TORCHALU_DEVICE void evaluation(int replica, Stream stream, std::int64_t start, int count) {
    if (!plan_.sampled) return slice(plan_.validation, start, count);
    draw(replica, stream, start / plan_.batch_size, count);
  }
  std::int64_t evaluation_rows() const {
    return plan_.sampled ? plan_.sampled->evaluation_rows : plan_.validation.rows;
  }

  TORCHALU_DEVICE Batch<const T> inputs() const { return plan_.sampled ? Batch<const T>{x_.data, rows_} : sliced_.x; }
  // log(|x| + eps) of the inputs. The rows of a task are known to be finite.
  TORCHALU_DEVICE Batch<const T> logs(double eps) {
    if (!logged_ || eps != logs_eps_) log_magnitude<T, true>(inputs(), logs_, plan_.in_features, rows_, T(eps));
    logged_ = true, logs_eps_ = eps;
    return {logs_.data, rows_};
  }
  // The rows as a setting of the team sees them. Settings that share their subsets share the sums.
  TORCHALU_DEVICE Rows<T> rows_for(const Plan &plan, int replica) { return plan.sampled ? targets_for(plan, replica) : sliced_; }

 private:
  TORCHALU_DEVICE Rows<T> targets_for(const Plan &plan, int replica) {
    const SampledTask &task = *plan.sampled;
    const std::int32_t *first = task.first + std::ptrdiff_t(replica) * task.first_size;
    const std::int32_t *second = task.second + std::ptrdiff_t(replica) * task.second_size;
    if (first != summed_first_ || second != summed_second_) {
      add_features<T>(first, task.first_size, {x_.data, rows_}, first_, rows_);
      add_features<T>(second, task.second_size, {x_.data, rows_}, second_, rows_);
      summed_first_ = first, summed_second_ = second;
    }
    apply<T>(task.operation, first_, second_, y_.data, rows_);
    if (task.noise != 0 && stream_ != kExtrapolation) add_noise(task.noise, replica);
    return {{x_.data, rows_}, {y_.data, rows_}, weight_};
  }
  TORCHALU_OUTLINE void draw(int replica, Stream stream, std::int64_t block, int count) {
    const SampledTask &task = *plan_.sampled;
    sample<T>(plan_.seed, plan_.replica_ids[replica], stream, std::uint64_t(block),
              stream == kExtrapolation ? task.extrapolation : task.training, plan_.in_features, rows_, x_.data, scratch_);
    logged_ = false;
    stream_ = stream, block_ = block, summed_first_ = summed_second_ = nullptr;
    set_weight(count, nullptr);
  }
  TORCHALU_DEVICE void slice(const Table &t, std::int64_t start, int count) {
    set_weight(count, static_cast<const T *>(t.weight) + start);
    logged_ = false;
    sliced_ = {{static_cast<const T *>(t.x) + start, std::ptrdiff_t(t.stride)},
               {static_cast<const T *>(t.y) + start, std::ptrdiff_t(t.stride)},
               weight_};
  }
  TORCHALU_DEVICE void set_weight(int count, const T *weight) {
    for_each_value(rows_, [&](std::ptrdiff_t r) { weight_[r] = r >= count ? T(0) : weight ? weight[r] : T(1); });
  }
  TORCHALU_DEVICE void add_noise(double size, int replica) {
    sample_normal<T>(plan_.seed, plan_.replica_ids[replica], stream_, std::uint64_t(block_), rows_, noise_, scratch_);
    for_each_value(rows_, [&](std::ptrdiff_t r) { y_.data[r] *= T(1) + T(size) * noise_[r]; });
  }

  const Plan &plan_;
  int rows_;
  Batch<T> x_, y_, logs_;
  bool logged_ = false;
  double logs_eps_ = 0;
  T *weight_, *first_, *second_, *noise_, *scratch_;
  Rows<T> sliced_{};
  Stream stream_ = kTraining;
  std::int64_t block_ = 0;
  const std::int32_t *summed_first_ = nullptr, *summed_second_ = nullptr;
};

}  // namespace torchalu::TORCHALU_ISA
