// The linear forms that a first layer begins with, over rows that are drawn where they are needed.
//
// A batch of 100 inputs is 51 KB, more than a warp can keep: its numbers are drawn once for the
// values of the forms and again for their gradients, save those of the first few features, which
// wait in the warp's fast memory.
#pragma once

#include "../batches.hpp"

namespace torchalu::TORCHALU_ISA {

inline constexpr int kWarpRows = 128, kRowsALane = kWarpRows / 32;

// `FX` forms of the inputs and `FL` of their log magnitudes: at least as many as the layer has.
template <class T, int FX, int FL> class DrawnForms {
  static constexpr int F = FX + FL, V = kRowsALane;
  static constexpr int kGroup = 32 / F;  // features whose gradients are summed at a time
  static constexpr int kStride = F + 2;  // a feature's weights, and its part in the two sums
  struct alignas(kStride % 4 == 0 ? 4 * sizeof(T) : kStride % 2 == 0 ? 2 * sizeof(T) : sizeof(T)) Weights {
    T of[kStride];
  };
  static_assert(kGroup > 0);

 public:
  // Numbers of fast memory, with room for `kept` features, of which whole groups are kept.
  TORCHALU_DEVICE static std::size_t fast_count(int in, int kept) {
    return std::size_t(kWarpRows) * kept + std::size_t(in) * (kStride + F);
  }

  TORCHALU_DEVICE DrawnForms(const Plan &plan, const LayerState<T> *first, Arena &arena, T *fast, int kept)
      : plan_(plan), first_(first), in_(plan.in_features), kept_(kept < in_ ? kept / kGroup * kGroup : in_), rows_(fast),
        weight_(reinterpret_cast<Weights *>(fast + std::size_t(kWarpRows) * kept)),
        grad_(fast + std::size_t(kWarpRows) * kept + std::size_t(in_) * kStride),
        eps_(T(plan.layers[0].eps)), sum_(arena.take<T>(2 * kWarpRows)), y_(arena.take<T>(kWarpRows)),
        row_weight_(arena.take<T>(kWarpRows)),
        noise_(arena.take<T>(plan.sampled->noise != 0 ? 2 * kWarpRows : 0)) {}

  // Writes down which inputs the target of a replica adds up.
  TORCHALU_OUTLINE void begin(int replica) {
    const SampledTask &task = *plan_.sampled;
    for_each_value(in_, [&](int i) { weight_[i] = {}; });
    const std::int32_t *first = task.first + std::ptrdiff_t(replica) * task.first_size;
    const std::int32_t *second = task.second + std::ptrdiff_t(replica) * task.second_size;
    if (leads()) {  // an index may stand there twice
      for (int k = 0; k < task.first_size; ++k) weight_[first[k]].of[F] += T(1);
      for (int k = 0; k < task.second_size; ++k) weight_[second[k]].of[F + 1] += T(1);
    }
    join();
  }

  // The batch of a stream; in the mean count its first `count` rows.
  TORCHALU_OUTLINE Rows<T> values(int replica, Stream stream, std::int64_t block, int count) {
    const SampledTask &task = *plan_.sampled;
    const Sampling &sampling = stream == kExtrapolation ? task.extrapolation : task.training;
    transpose_weights();
    for_each_value(kWarpRows, [&](int r) { row_weight_[r] = T(r < count); });
    const std::uint64_t id = plan_.replica_ids[replica];
    Drawing b(mix(plan_.seed, id, stream, std::uint64_t(block)), sampling);
    if (sampling.common != 0)
      b.add_common(mix(plan_.seed, id, stream | kCommonStream, std::uint64_t(block)), sampling);

    vec<T> value[F][V], sum[2][V];
    TORCHALU_UNROLL
    for (int v = 0; v < V; ++v) {
      TORCHALU_UNROLL
      for (int f = 0; f < F; ++f) value[f][v] = zero<T>();
      sum[0][v] = sum[1][v] = zero<T>();
    }
    if (sampling.range.two_sided) add_features<true>(b, value, sum);
    else add_features<false>(b, value, sum);

    TORCHALU_UNROLL
    for (int v = 0; v < V; ++v) {
      const int r = v * kLanes<T>;
      TORCHALU_UNROLL
      for (int f = 0; f < F; ++f)
        if (const Form<T> *form = form_at(f)) store(form->value + r, value[f][v]);
      store(sum_ + r, sum[0][v]), store(sum_ + kWarpRows + r, sum[1][v]);
    }
    apply<T>(task.operation, sum_, sum_ + kWarpRows, y_, kWarpRows);
    if (task.noise != 0 && stream != kExtrapolation) add_noise(T(task.noise), id, stream, std::uint64_t(block));
    return {{}, {y_, kWarpRows}, row_weight_};
  }

  // The gradients by the weights, of the batch that `values` was called for last.
  TORCHALU_OUTLINE void gradients() {
    vec<T> slope[F][V];
    TORCHALU_UNROLL
    for (int f = 0; f < F; ++f) {
      const Form<T> *form = form_at(f);
      TORCHALU_UNROLL
      for (int v = 0; v < V; ++v) slope[f][v] = form ? load(form->slope + v * kLanes<T>) : zero<T>();
    }
    if (drawing_.uniform.two_sided()) add_groups<true>(slope);
    else add_groups<false>(slope);
    for (int f = 0; f < F; ++f)
      if (const Form<T> *form = form_at(f))
        for_each_value(in_, [&, to = form->grad_weight](int i) { to[i] += grad_[i * F + f]; });
  }

 private:
  // Where a batch's numbers come from.
  struct Drawing {
    Generator generator;
    Uniform<T> uniform;
    vec<T> low[V];
    TORCHALU_DEVICE Drawing(std::uint64_t key, const Sampling &sampling)
        : generator(key), uniform(sampling.range, 1 - sampling.common) {
      for (int v = 0; v < V; ++v) low[v] = broadcast(uniform.low());
    }
    TORCHALU_DEVICE void add_common(std::uint64_t key, const Sampling &sampling) {
      Generator common(key);
      const Uniform<T> part(sampling.range, sampling.common);
      for (int v = 0; v < V; ++v) low[v] += part(common.next());
    }
    template <bool TwoSided> TORCHALU_DEVICE void draw(vec<T> (&x)[V]) {
      TORCHALU_UNROLL
      for (int v = 0; v < V; ++v) {
        const Words word = generator.next();
        if constexpr (TwoSided) x[v] = uniform(word);
        else x[v] = uniform.above(low[v], word);
      }
    }
  };

  TORCHALU_DEVICE const Form<T> *form_at(int f) const {
    if (f < FX) return f < first_->of_input.count ? first_->of_input.form + f : nullptr;
    return f - FX < first_->of_logs.count ? first_->of_logs.form + (f - FX) : nullptr;
  }
  // log(|x| + eps): on a GPU by its own instruction, whose error, 2^-22, is less than what the rounding
  // of a sum of a hundred of them comes to.
  TORCHALU_DEVICE static vec<T> log_of(vec<T> x, T eps) {
    const vec<T> magnitude = absolute<T>(x) + eps;
#if defined(__CUDA_ARCH__)
    T binary;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(binary) : "f"(magnitude));
    return binary * T(0.6931471805599453);
#else
    return log<T, true>(magnitude);
#endif
  }

  TORCHALU_DEVICE void transpose_weights() {
    for (int f = 0; f < F; ++f)
      if (const Form<T> *form = form_at(f))
        for_each_value(in_, [&, from = form->weight](int i) { weight_[i].of[f] = from[i]; });
  }

  template <bool TwoSided> TORCHALU_DEVICE
  void add_features(Drawing &b, vec<T> (&value)[F][V], vec<T> (&sum)[2][V]) {
    const Weights *const weights = weight_;
    T *const rows = rows_;
    const int kept = kept_, in = in_;
    const T eps = eps_;
    for (int i = 0; i < kept; ++i) add_feature<TwoSided, true>(b, weights[i], eps, rows + i * kWarpRows, value, sum);
    drawing_ = b;
    for (int i = kept; i < in; ++i) add_feature<TwoSided, false>(b, weights[i], eps, nullptr, value, sum);
  }
  template <bool TwoSided, bool Keep> TORCHALU_DEVICE
  void add_feature(Drawing &b, const Weights here, T eps, T *rows, vec<T> (&value)[F][V], vec<T> (&sum)[2][V]) {
    const T(&w)[kStride] = here.of;
    vec<T> x[V];
    b.template draw<TwoSided>(x);
    TORCHALU_UNROLL
    for (int v = 0; v < V; ++v) {
      if constexpr (Keep) store(rows + v * kLanes<T>, x[v]);
      TORCHALU_UNROLL
      for (int f = 0; f < FX; ++f) value[f][v] += x[v] * w[f];
      if constexpr (FL > 0) {
        const vec<T> logs = log_of(x[v], eps);
        TORCHALU_UNROLL
        for (int f = FX; f < F; ++f) value[f][v] += logs * w[f];
      }
      sum[0][v] += x[v] * w[F];
      sum[1][v] += x[v] * w[F + 1];
    }
  }

  template <bool TwoSided> TORCHALU_DEVICE void add_groups(const vec<T> (&slope)[F][V]) {
    Drawing b = drawing_;
    for (int i = 0; i < in_; i += kGroup) {
      const int whole = i + kGroup;
      if (whole <= kept_) add_group<TwoSided, true, true>(b, i, slope);
      else if (i >= kept_ && whole <= in_) add_group<TwoSided, false, true>(b, i, slope);
      else add_group<TwoSided, false, false>(b, i, slope);
    }
  }
  // The gradients of the features from i on, one sum in each lane.
  template <bool TwoSided, bool Kept, bool Whole> TORCHALU_DEVICE
  void add_group(Drawing &b, int i, const vec<T> (&slope)[F][V]) {
    vec<T> x[V], logs[V];
    const int left = Whole ? kGroup : (in_ - i < kGroup ? in_ - i : kGroup);
    const auto next_feature = [&](int j) {
      if (Kept || (!Whole && i + j < kept_)) {
        TORCHALU_UNROLL
        for (int v = 0; v < V; ++v) x[v] = load(rows_ + (i + j) * kWarpRows + v * kLanes<T>);
      } else {
        b.template draw<TwoSided>(x);
      }
      if constexpr (FL > 0) {
        TORCHALU_UNROLL
        for (int v = 0; v < V; ++v) logs[v] = log_of(x[v], eps_);
      }
    };
    for (int v = 0; v < V; ++v) x[v] = logs[v] = zero<T>();
    const vec<T> sums = sums_of<T>([&]<int K>() {
      constexpr int j = K / F, f = K % F;
      vec<T> total = zero<T>();
      if constexpr (j < kGroup) {
        if (Whole || j < left) {
          if constexpr (f == 0) next_feature(j);
          TORCHALU_UNROLL
          for (int v = 0; v < V; ++v) total += slope[f][v] * (f < FX ? x[v] : logs[v]);
        }
      }
      return total;
    });
    store_some(grad_ + i * F, sums, std::size_t(left) * F);
  }

  TORCHALU_DEVICE void add_noise(T size, std::uint64_t id, Stream stream, std::uint64_t block) {
    sample_normal<T>(plan_.seed, id, stream, block, kWarpRows, noise_, noise_ + kWarpRows);
    for_each_value(kWarpRows, [&](int r) { y_[r] *= T(1) + size * noise_[r]; });
  }

  const Plan &plan_;
  const LayerState<T> *first_;
  int in_, kept_;
  T *rows_;
  Weights *weight_;
  T *grad_;
  T eps_;
  T *sum_, *y_, *row_weight_, *noise_;
  Drawing drawing_{0, Sampling{}};
};

}  // namespace torchalu::TORCHALU_ISA
