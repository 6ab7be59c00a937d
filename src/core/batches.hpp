// Where the rows of a batch come from: drawn afresh, or a slice of a table.
#pragma once

#include "arena.hpp"
#include "matrix.hpp"
#include "plan.hpp"
#include "random.hpp"

namespace torchalu::TORCHALU_ISA {

inline int padded_rows(std::int64_t rows) { return int((rows + kRowGroup - 1) / kRowGroup * kRowGroup); }

// Uniform numbers on a range, from 32 random bits each: the upper 24, and bit 7 for the side of a
// two-sided range.
template <class T> class Uniform {
 public:
  explicit Uniform(const Range &range)
      : low_(broadcast(T(range.low))), width_(broadcast(T((range.high - range.low) * 0x1p-24))),
        low2_(broadcast(T(range.low2))), width2_(broadcast(T((range.high2 - range.low2) * 0x1p-24))),
        two_sided_(range.two_sided) {}

  // 16 numbers at out, in order.
  void write(const Generator::Word (&words)[Generator::kParts], T *out) const {
    for (int p = 0; p < Generator::kParts; ++p) {
      if constexpr (sizeof(T) == 4) {
        write_vector(words[p], out + p * kLanes<T>);
      } else {  // as many words as a vector of doubles has lanes, twice
        alignas(64) std::int32_t lanes[Generator::kWordLanes];
        *reinterpret_cast<Generator::Word *>(lanes) = words[p];
        for (int part = 0; part < 2; ++part) {
          bits<T> wide;
          for (int l = 0; l < kLanes<T>; ++l) wide[l] = std::uint32_t(lanes[part * kLanes<T> + l]);
          write_vector(wide, out + (2 * p + part) * kLanes<T>);
        }
      }
    }
  }

 private:
  void write_vector(bits<T> word, T *out) const {
    const vec<T> u = __builtin_convertvector((word >> 8) & 0xffffff, vec<T>);
    const vec<T> value = u * width_ + low_;
    store(out, two_sided_ ? select<T>((word & 0x80) != 0, u * width2_ + low2_, value) : value);
  }

  vec<T> low_, width_, low2_, width2_;
  bool two_sided_;
};

// Fills a batch whose features lie one behind the other.
template <class T>
void sample(std::uint64_t seed, std::uint64_t replica, std::uint64_t stream, std::uint64_t step, const Range &range,
            int features, int rows, T *x) {
  Generator generator(mix(seed, replica, stream, step));
  const Uniform<T> uniform(range);
  const std::ptrdiff_t count = std::ptrdiff_t(features) * rows;
  Generator::Word words[Generator::kParts];
  std::ptrdiff_t k = 0;
  for (; k + 2 * kRowGroup <= count; k += 2 * kRowGroup) {
    generator.next(0, words);
    uniform.write(words, x + k);
    generator.next(1, words);
    uniform.write(words, x + k + kRowGroup);
  }
  if (k < count) {
    generator.next(0, words);
    uniform.write(words, x + k);
  }
}

// out = sum of the features of a subset; several vectors of rows at once hide the latency of add.
template <class T, int VT>
inline void add_features_tile(const std::int32_t *subset, int size, const Batch<const T> &x, T *out, int r) {
  vec<T> sum[VT];
  for (int v = 0; v < VT; ++v) sum[v] = zero<T>();
  for (int k = 0; k < size; ++k)
    for (int v = 0; v < VT; ++v) sum[v] += load(x[subset[k]] + r + v * kLanes<T>);
  for (int v = 0; v < VT; ++v) store(out + r + v * kLanes<T>, sum[v]);
}
template <class T>
inline void add_features(const std::int32_t *subset, int size, Batch<const T> x, T *out, int rows) {
  constexpr int VT = kWideTile;
  int r = 0;
  for (; r + VT * kLanes<T> <= rows; r += VT * kLanes<T>) add_features_tile<T, VT>(subset, size, x, out, r);
  for (; r < rows; r += kLanes<T>) add_features_tile<T, 1>(subset, size, x, out, r);
}

// y = operation(sum of the first subset, sum of the second); scratch holds one row vector.
template <class T>
void target(const SampledTask &task, int replica, Batch<const T> x, T *y, T *scratch, int rows) {
  add_features<T>(task.first + std::ptrdiff_t(replica) * task.first_size, task.first_size, x, y, rows);
  add_features<T>(task.second + std::ptrdiff_t(replica) * task.second_size, task.second_size, x, scratch, rows);
  switch (task.operation) {
    case Operation::kAdd: for (int r = 0; r < rows; ++r) y[r] += scratch[r]; break;
    case Operation::kSubtract: for (int r = 0; r < rows; ++r) y[r] -= scratch[r]; break;
    case Operation::kMultiply: for (int r = 0; r < rows; ++r) y[r] *= scratch[r]; break;
    case Operation::kDivide: for (int r = 0; r < rows; ++r) y[r] /= scratch[r]; break;
    case Operation::kSquare: for (int r = 0; r < rows; ++r) y[r] *= y[r]; break;
    case Operation::kRoot:
      for (int r = 0; r < rows; r += kLanes<T>) store(y + r, square_root<T>(load(y + r)));
      break;
  }
}

// A batch with its targets and the weight of each row in the mean (0 for padding).
template <class T> struct Rows {
  Batch<const T> x, y;
  const T *weight;
};

template <class T> class Source {
 public:
  Source(const Plan &plan, Arena &arena, int rows)
      : plan_(plan), rows_(rows),
        x_{plan.sampled ? arena.take<T>(std::size_t(plan.in_features) * rows) : nullptr, rows},
        y_{plan.sampled ? arena.take<T>(std::size_t(plan.out_features) * rows) : nullptr, rows},
        weight_(arena.take<T>(rows)), scratch_(arena.take<T>(rows)) {}

  Rows<T> training(int replica, std::int64_t step) {
    if (plan_.sampled) return draw(replica, kTraining, step, plan_.batch_size, plan_.sampled->training);
    const Table &t = plan_.table;
    const std::int64_t groups = (t.rows + kRowGroup - 1) / kRowGroup;
    std::int64_t start = 0;
    if (t.rows > plan_.batch_size)
      start = std::int64_t(mix(plan_.seed, plan_.replica_ids[replica], kTraining, step) % std::uint64_t(groups)) *
              kRowGroup;
    return slice(t, start, plan_.batch_size);
  }

  // The block that begins at row `start` of a fixed set for evaluation; `count` rows of it count.
  Rows<T> evaluation(int replica, Stream stream, std::int64_t start, int count) {
    if (!plan_.sampled) return slice(plan_.validation, start, count);
    return draw(replica, stream, start / plan_.batch_size, count,
                stream == kValidation ? plan_.sampled->training : plan_.sampled->extrapolation);
  }
  std::int64_t evaluation_rows() const {
    return plan_.sampled ? plan_.sampled->evaluation_rows : plan_.validation.rows;
  }

 private:
  Rows<T> draw(int replica, Stream stream, std::int64_t block, int count, const Range &range) {
    sample<T>(plan_.seed, plan_.replica_ids[replica], stream, std::uint64_t(block), range, plan_.in_features, rows_, x_.data);
    target<T>(*plan_.sampled, replica, {x_.data, rows_}, y_.data, scratch_, rows_);
    for (int r = 0; r < rows_; ++r) weight_[r] = r < count ? T(1) : T(0);
    return {{x_.data, rows_}, {y_.data, rows_}, weight_};
  }
  Rows<T> slice(const Table &t, std::int64_t start, int count) {
    const T *w = static_cast<const T *>(t.weight) + start;
    for (int r = 0; r < rows_; ++r) weight_[r] = r < count ? w[r] : T(0);
    return {{static_cast<const T *>(t.x) + start, std::ptrdiff_t(t.stride)},
            {static_cast<const T *>(t.y) + start, std::ptrdiff_t(t.stride)},
            weight_};
  }

  const Plan &plan_;
  int rows_;
  Batch<T> x_, y_;
  T *weight_, *scratch_;
};

}  // namespace torchalu::TORCHALU_ISA
