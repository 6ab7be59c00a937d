// The arithmetic of each unit, forward and backward, on a batch of features by rows.
//
// Written once; the trainer and the operators both use it. Equations and sources stand in
// the Python modules torchalu.functional, whose bodies define what these must equal.
#pragma once

#include "arena.hpp"
#include "matrix.hpp"
#include "plan.hpp"

namespace torchalu::TORCHALU_ISA {

// Inputs of a NALU that are worked on at a time.
inline constexpr int kPart = 32;

// Inputs that the backward pass of a product holds in registers at a time.
inline constexpr int kChunk = 4;

// Vectors of scratch that the products of a layer with `in` inputs need: for each of four outputs
// the sums of gradients, the prefixes before each chunk, and the complements 1 - W.
template <class T> inline std::size_t product_scratch(int in) {
  return 4 * (std::size_t(in) + in / kChunk + kChunk + in / kLanes<T> + 1);
}

// What one layer keeps between its forward and its backward pass.
template <class T> struct LayerState {
  Batch<T> output, grad_output;
  T *effective, *grad_effective, *slopes;  // effective weights that differ from the parameters
  Batch<T> logs, grad_logs, angles, grad_angles;  // (in): log magnitudes, and pi g where x < 0
  Batch<T> first, grad_first;             // (out), or (2 out) for a gated unit: sum, then gate
  Batch<T> second, grad_second;           // (out): product, or angle
  vec<T> *scratch;                        // for products
};

inline bool in_log_space(Kind k) {
  return k == Kind::kNACMul || k == Kind::kNALU || k == Kind::kRealNPU || k == Kind::kNPU;
}
inline bool is_gated(Kind k) { return k == Kind::kNALU || k == Kind::kGatedNAUNMU; }
inline bool has_angle(Kind k) { return k == Kind::kRealNPU || k == Kind::kNPU; }

template <class T> LayerState<T> take_layer(Arena &arena, const Layer &l, int rows) {
  LayerState<T> s{};
  const auto batch = [&](int features) { return Batch<T>{arena.take<T>(std::size_t(features) * rows), rows}; };
  const std::size_t weights = padded<T>(std::size_t(l.in) * l.out);
  s.output = batch(l.out);
  s.grad_output = batch(l.out);
  s.effective = arena.take<T>(3 * weights);
  s.grad_effective = arena.take<T>(3 * weights);
  s.slopes = arena.take<T>(4 * weights);
  if (in_log_space(l.kind)) s.logs = batch(l.in), s.grad_logs = batch(l.in);
  if (has_angle(l.kind)) s.angles = batch(l.in), s.grad_angles = batch(l.in);
  if (in_log_space(l.kind) || is_gated(l.kind)) {
    s.first = batch(2 * l.out), s.grad_first = batch(2 * l.out);
    s.second = batch(l.out), s.grad_second = batch(l.out);
  }
  s.scratch = arena.take<vec<T>>(product_scratch<T>(l.in));
  return s;
}

template <class T, class F> inline void for_each_vector(int features, int rows, F &&f) {
  for (int i = 0; i < features; ++i)
    for (int r = 0; r < rows; r += kLanes<T>) f(i, r);
}

template <class T> inline void fill_zero(Batch<T> b, int features, int rows) {
  for_each_vector<T>(features, rows, [&](int i, int r) { store(b[i] + r, zero<T>()); });
}
template <class T> inline void fill_zero(T *p, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k) p[k] = T(0);
}

// --- products -----------------------------------------------------------------------------

template <class T> inline void complement(const T *weight, T *out, int count) {
  for (int k = 0; k < count; ++k) out[k] = T(1) - weight[k];
}

// z_o = prod_i (w_oi x_i + 1 - w_oi), OT outputs x VT vectors of rows at a time.
template <class T, int OT, int VT>
inline void product_tile(const T *weight, const T *rest, int in, const Batch<const T> &x, const Batch<T> &z, int o,
                         int r) {
  vec<T> p[OT][VT];
  for (int a = 0; a < OT; ++a)
    for (int v = 0; v < VT; ++v) p[a][v] = broadcast(T(1));
  for (int i = 0; i < in; ++i) {
    vec<T> value[VT];
    for (int v = 0; v < VT; ++v) value[v] = load(x[i] + r + v * kLanes<T>);
    for (int a = 0; a < OT; ++a) {
      const T w = weight[std::ptrdiff_t(a) * in + i], c = rest[std::ptrdiff_t(a) * in + i];
      for (int v = 0; v < VT; ++v) p[a][v] *= value[v] * w + c;
    }
  }
  for (int a = 0; a < OT; ++a)
    for (int v = 0; v < VT; ++v) store(z[o + a] + r + v * kLanes<T>, p[a][v]);
}
template <class T, int OT>
inline void product_rows(const T *weight, int in, const Batch<const T> &x, const Batch<T> &z, int o, int rows,
                         vec<T> *scratch) {
  T *rest = reinterpret_cast<T *>(scratch);
  const T *w = weight + std::ptrdiff_t(o) * in;
  complement(w, rest, OT * in);
  int r = 0;
  for (; r + 4 * kLanes<T> <= rows; r += 4 * kLanes<T>) product_tile<T, OT, 4>(w, rest, in, x, z, o, r);
  for (; r < rows; r += kLanes<T>) product_tile<T, OT, 1>(w, rest, in, x, z, o, r);
}
template <class T>
inline void product_forward(const T *weight, int in, int out, Batch<const T> x, Batch<T> z, int rows,
                            vec<T> *scratch) {
  int o = 0;
  for (; o + 2 <= out; o += 2) product_rows<T, 2>(weight, in, x, z, o, rows, scratch);
  for (; o < out; ++o) product_rows<T, 1>(weight, in, x, z, o, rows, scratch);
}

// Inputs i .. i + N of the backward pass of OT products, for one vector of rows. `prefix` is the
// product of the factors before i, `suffix` the gradient times the product of those after i + N,
// which this call extends to i. N small enough for the registers.
template <class T, int OT, int N, bool WithInput>
inline void product_backward_chunk(const T *weight, const T *rest, int in, const Batch<const T> &x, int i, int r,
                                   const vec<T> *prefix, vec<T> *suffix, vec<T> *total, const Batch<T> &dx) {
  vec<T> value[N], slope[N];
  for (int k = 0; k < N; ++k) {
    value[k] = load(x[i + k] + r);
    if constexpr (WithInput) slope[k] = load(dx[i + k] + r);
  }
  for (int a = 0; a < OT; ++a) {
    const std::ptrdiff_t at = std::ptrdiff_t(a) * in + i;
    const T *w = weight + at, *c = rest + at;
    vec<T> factor[N], before[N];
    before[0] = prefix[a];
    for (int k = 0; k < N; ++k) factor[k] = value[k] * w[k] + c[k];
    for (int k = 1; k < N; ++k) before[k] = before[k - 1] * factor[k - 1];
    vec<T> after = suffix[a];
    for (int k = N - 1; k >= 0; --k) {
      const vec<T> others = before[k] * after;
      total[at + k] += others * (value[k] - T(1));
      if constexpr (WithInput) slope[k] += others * w[k];
      after *= factor[k];
    }
    suffix[a] = after;
  }
  if constexpr (WithInput)
    for (int k = 0; k < N; ++k) store(dx[i + k] + r, slope[k]);
}

// OT products at once.
template <class T, int OT, bool WithInput>
inline void product_backward_tile(const T *weight, int in, const Batch<const T> &x, const Batch<const T> &dz, int o,
                                  int rows, const Batch<T> &dx, T *dweight, vec<T> *scratch) {
  const T *w = weight + std::ptrdiff_t(o) * in;
  vec<T> *total = scratch, *prefix = scratch + std::ptrdiff_t(OT) * in;
  T *rest = reinterpret_cast<T *>(prefix + OT * (in / kChunk + in % kChunk));
  complement(w, rest, OT * in);
  const int chunks = in / kChunk, whole = chunks * kChunk;
  for (int i = 0; i < OT * in; ++i) total[i] = zero<T>();
  for (int r = 0; r < rows; r += kLanes<T>) {
    vec<T> p[OT], suffix[OT];
    for (int a = 0; a < OT; ++a) p[a] = broadcast(T(1)), suffix[a] = load(dz[o + a] + r);
    vec<T> *at = prefix;
    const auto advance = [&](int i, int count) {  // past `count` inputs, whose product is a chain of its own
      vec<T> q[OT];
      for (int a = 0; a < OT; ++a) *at++ = p[a], q[a] = broadcast(T(1));
      for (int k = i; k < i + count; ++k) {
        const vec<T> value = load(x[k] + r);
        for (int a = 0; a < OT; ++a) q[a] *= value * w[std::ptrdiff_t(a) * in + k] + rest[std::ptrdiff_t(a) * in + k];
      }
      for (int a = 0; a < OT; ++a) p[a] *= q[a];
    };
    for (int c = 0; c < chunks; ++c) advance(c * kChunk, kChunk);
    for (int i = whole; i < in; ++i) advance(i, 1);
    for (int i = in - 1; i >= whole; --i)
      product_backward_chunk<T, OT, 1, WithInput>(w, rest, in, x, i, r, at -= OT, suffix, total, dx);
    for (int c = chunks - 1; c >= 0; --c)
      product_backward_chunk<T, OT, kChunk, WithInput>(w, rest, in, x, c * kChunk, r, at -= OT, suffix, total, dx);
  }
  T *d = dweight + std::ptrdiff_t(o) * in;
  int i = 0;
  for (; i + kLanes<T> <= OT * in; i += kLanes<T>) {
    const vec<T> sums = sum_each<T>(total + i);
    for (int l = 0; l < kLanes<T>; ++l) d[i + l] += sums[l];
  }
  for (; i < OT * in; ++i) d[i] += sum<T>(total[i]);
}

template <class T, bool WithInput>
inline void product_backward_all(const T *weight, int in, int out, const Batch<const T> &x, const Batch<const T> &dz,
                                 int rows, const Batch<T> &dx, T *dweight, vec<T> *scratch) {
  int o = 0;
  for (; o + 4 <= out; o += 4)
    product_backward_tile<T, 4, WithInput>(weight, in, x, dz, o, rows, dx, dweight, scratch);
  for (; o < out; ++o) product_backward_tile<T, 1, WithInput>(weight, in, x, dz, o, rows, dx, dweight, scratch);
}

// dW += ..., dx += ... (dx may be absent); exact also where a factor is 0, since the product of
// the others is formed from prefix and suffix products, without a division.
template <class T>
inline void product_backward(const T *weight, int in, int out, Batch<const T> x, Batch<const T> dz, int rows,
                             Batch<T> dx, T *dweight, vec<T> *scratch) {
  if (dx.data) product_backward_all<T, true>(weight, in, out, x, dz, rows, dx, dweight, scratch);
  else product_backward_all<T, false>(weight, in, out, x, dz, rows, dx, dweight, scratch);
}

// --- effective weights --------------------------------------------------------------------

// Applies f to vectors of the arrays, which need not be aligned; the last one is padded with zeros.
template <class T, int In, int Out, class F>
inline void map_vectors(const T *const (&in)[In], T *const (&out)[Out], std::size_t count, F &&f) {
  constexpr std::size_t lanes = kLanes<T>;
  vec<T> x[In] = {}, y[Out];
  std::size_t k = 0;
  for (; k + lanes <= count; k += lanes) {
    for (int c = 0; c < In; ++c) __builtin_memcpy(&x[c], in[c] + k, sizeof(vec<T>));
    f(x, y);
    for (int c = 0; c < Out; ++c) __builtin_memcpy(out[c] + k, &y[c], sizeof(vec<T>));
  }
  if (k == count) return;
  for (int c = 0; c < In; ++c) {
    x[c] = zero<T>();
    for (std::size_t l = 0; k + l < count; ++l) x[c][l] = in[c][k + l];
  }
  f(x, y);
  for (int c = 0; c < Out; ++c)
    for (std::size_t l = 0; k + l < count; ++l) out[c][k + l] = y[c][l];
}

// W = tanh(w_hat) sigmoid(m_hat), and its slopes by w_hat and by m_hat.
template <class T>
inline void tanh_sigmoid(const T *w_hat, const T *m_hat, T *weight, T *slope_w, T *slope_m, std::size_t count) {
  map_vectors<T>({w_hat, m_hat}, {weight, slope_w, slope_m}, count, [](const vec<T> *x, vec<T> *y) {
    vec<T> t, slope, s, rest;
    tanh_and_slope<T>(x[0], t, slope);
    sigmoids<T>(x[1], s, rest);
    y[0] = t * s, y[1] = slope * s, y[2] = t * s * rest;
  });
}
// W = sigmoid(w_hat), and its slope.
template <class T> inline void sigmoid_weight(const T *w_hat, T *weight, T *slope, std::size_t count) {
  map_vectors<T>({w_hat}, {weight, slope}, count, [](const vec<T> *x, vec<T> *y) {
    vec<T> rest;
    sigmoids<T>(x[0], y[0], rest);
    y[1] = y[0] * rest;
  });
}
template <class T> inline void copy(const T *from, T *to, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k) to[k] = from[k];
}
template <class T> inline void add(const T *from, T *to, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k) to[k] += from[k];
}
template <class T> inline void add_product(const T *a, const T *b, T *to, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k) to[k] += a[k] * b[k];
}

// Fills the effective weights of a layer, and their slopes, from its parameters, once a step.
// A NALU holds the weight of its sum, that of its gate and that of its product.
template <class T> void prepare(const Layer &l, const T *p, LayerState<T> &s) {
  const std::size_t n = std::size_t(l.in) * l.out;
  T *w = s.effective, *slope = s.slopes;
  switch (l.kind) {
    case Kind::kNAC: tanh_sigmoid(p, p + n, w, slope, slope + n, n); break;
    case Kind::kNACMul:
      if (l.parametrization == Parametrization::kTanhSigmoid) tanh_sigmoid(p, p + n, w, slope, slope + n, n);
      else if (l.parametrization == Parametrization::kSigmoid) sigmoid_weight(p, w, slope, n);
      else copy(p, w, n);
      break;
    case Kind::kNALU:
      tanh_sigmoid(p, p + n, w, slope, slope + n, n);
      copy(p + (l.separate ? 4 : 2) * n, w + n, n);
      if (l.separate) tanh_sigmoid(p + 2 * n, p + 3 * n, w + 2 * n, slope + 2 * n, slope + 3 * n, n);
      else copy(w, w + 2 * n, n);
      break;
    case Kind::kGatedNAUNMU:  // the weight of the product stays where it is
      copy(p, w, n);
      copy(p + 2 * n, w + n, n);
      break;
    default: break;
  }
}

// Carries the gradients of the effective weights to the parameters.
template <class T> void finish_gradient(const Layer &l, LayerState<T> &s, T *dp) {
  const std::size_t n = std::size_t(l.in) * l.out;
  T *g = s.grad_effective;
  const T *slope = s.slopes;
  const auto both = [&](const T *gradient, const T *slopes, T *to) {
    add_product(gradient, slopes, to, n);
    add_product(gradient, slopes + n, to + n, n);
  };
  switch (l.kind) {
    case Kind::kNAC: both(g, slope, dp); break;
    case Kind::kNACMul:
      if (l.parametrization == Parametrization::kTanhSigmoid) both(g, slope, dp);
      else if (l.parametrization == Parametrization::kSigmoid) add_product(g, slope, dp, n);
      else add(g, dp, n);
      break;
    case Kind::kNALU:
      if (!l.separate) add(g + 2 * n, g, n);
      both(g, slope, dp);
      if (l.separate) both(g + 2 * n, slope + 2 * n, dp + 2 * n);
      add(g + n, dp + (l.separate ? 4 : 2) * n, n);
      break;
    case Kind::kGatedNAUNMU:
      add(g, dp, n);
      add(g + n, dp + 2 * n, n);
      break;
    default: break;
  }
}

// --- log space ----------------------------------------------------------------------------

// log(|x| + eps), and its way back. The rows of a task are known to be finite.
template <class T, bool KnownFinite>
inline void log_magnitude_of(Batch<const T> x, Batch<T> logs, int in, int rows, T eps) {
  for_each_vector<T>(in, rows, [&](int i, int r) {
    store(logs[i] + r, log<T, KnownFinite>(absolute<T>(load(x[i] + r)) + eps));
  });
}
template <class T>
inline void log_magnitude(const Layer &l, Batch<const T> x, Batch<T> logs, int in, int rows) {
  if (l.first) log_magnitude_of<T, true>(x, logs, in, rows, T(l.eps));
  else log_magnitude_of<T, false>(x, logs, in, rows, T(l.eps));
}
template <class T>
inline void add_log_magnitude_gradient(Batch<const T> x, Batch<const T> dlogs, Batch<T> dx, int in, int rows, T eps) {
  for_each_vector<T>(in, rows, [&](int i, int r) {
    const vec<T> value = load(x[i] + r);
    store(dx[i] + r, vec<T>(load(dx[i] + r) + load(dlogs[i] + r) * sign<T>(value) / (absolute<T>(value) + eps)));
  });
}

template <class T>
void npu_forward(const Layer &l, const T *p, LayerState<T> &s, Batch<const T> x, int rows) {
  const std::size_t n = std::size_t(l.in) * l.out;
  const bool imaginary = l.kind == Kind::kNPU;
  const T *gate = p + (imaginary ? 2 : 1) * n;
  const T pi = T(3.141592653589793);
  for_each_vector<T>(l.in, rows, [&](int i, int r) {
    const vec<T> value = load(x[i] + r);
    const T g = gate[i] < T(0) ? T(0) : gate[i] > T(1) ? T(1) : gate[i];
    store(s.logs[i] + r, vec<T>(log<T>((absolute<T>(value) + T(l.eps)) * g + (T(1) - g))));
    store(s.angles[i] + r, select<T>(value < zero<T>(), broadcast(g * pi), zero<T>()));
  });
  multiply<T>(p, l.in, l.out, {s.logs.data, rows}, s.first, rows);
  multiply<T>(p, l.in, l.out, {s.angles.data, rows}, s.second, rows);
  if (imaginary) {
    for (std::size_t k = 0; k < n; ++k) s.effective[k] = -p[n + k];
    multiply<T>(s.effective, l.in, l.out, {s.angles.data, rows}, s.first, rows, true);
    multiply<T>(p + n, l.in, l.out, {s.logs.data, rows}, s.second, rows, true);
  }
  for_each_vector<T>(l.out, rows, [&](int o, int r) {
    vec<T> sine, cosine;
    sincos<T>(load(s.second[o] + r), sine, cosine);
    const vec<T> magnitude = exp<T>(load(s.first[o] + r));
    store(s.output[o] + r, vec<T>(magnitude * cosine));
    store(s.second[o] + r, vec<T>(-(magnitude * sine)));  // the derivative by the angle
  });
}

template <class T>
void npu_backward(const Layer &l, const T *p, LayerState<T> &s, Batch<const T> x, int rows, Batch<T> dx, T *dp) {
  const std::size_t n = std::size_t(l.in) * l.out;
  const bool imaginary = l.kind == Kind::kNPU;
  const T *gate = p + (imaginary ? 2 : 1) * n;
  T *dgate = dp + (imaginary ? 2 : 1) * n;
  const T pi = T(3.141592653589793);
  for_each_vector<T>(l.out, rows, [&](int o, int r) {
    const vec<T> g = load(s.grad_output[o] + r);
    store(s.grad_first[o] + r, vec<T>(g * load(s.output[o] + r)));
    store(s.grad_second[o] + r, vec<T>(g * load(s.second[o] + r)));
  });
  const Batch<const T> dlog_sum{s.grad_first.data, rows}, dangle_sum{s.grad_second.data, rows};
  const Batch<const T> logs{s.logs.data, rows}, angles{s.angles.data, rows};
  add_outer<T>(dlog_sum, logs, dp, l.in, l.out, rows);
  add_outer<T>(dangle_sum, angles, dp, l.in, l.out, rows);
  fill_zero(s.grad_logs, l.in, rows);
  fill_zero(s.grad_angles, l.in, rows);
  add_transposed<T>(p, l.in, l.out, dlog_sum, s.grad_logs, rows);
  add_transposed<T>(p, l.in, l.out, dangle_sum, s.grad_angles, rows);
  if (imaginary) {
    add_outer<T>(dangle_sum, logs, dp + n, l.in, l.out, rows);
    fill_zero(s.grad_effective, n);
    add_outer<T>(dlog_sum, angles, s.grad_effective, l.in, l.out, rows);
    for (std::size_t k = 0; k < n; ++k) dp[n + k] -= s.grad_effective[k];
    add_transposed<T>(p + n, l.in, l.out, dangle_sum, s.grad_logs, rows);
    add_transposed<T>(s.effective, l.in, l.out, dlog_sum, s.grad_angles, rows);
  }
  for (int i = 0; i < l.in; ++i) {
    const T g = gate[i] < T(0) ? T(0) : gate[i] > T(1) ? T(1) : gate[i];
    vec<T> total = zero<T>();
    for (int r = 0; r < rows; r += kLanes<T>) {
      const vec<T> value = load(x[i] + r), magnitude = absolute<T>(value) + T(l.eps);
      const vec<T> dr = load(s.grad_logs[i] + r) / (magnitude * g + (T(1) - g));
      total += dr * (magnitude - T(1));
      total += select<T>(value < zero<T>(), load(s.grad_angles[i] + r) * pi, zero<T>());
      if (dx.data) store(dx[i] + r, vec<T>(load(dx[i] + r) + dr * sign<T>(value) * g));
    }
    if (gate[i] >= T(0) && gate[i] <= T(1)) dgate[i] += sum<T>(total);
  }
}

// --- gated units --------------------------------------------------------------------------

// z = g a + h m with g = sigmoid(G x), h = 1 - g = sigmoid(-G x), which keeps its digits where g
// is near 1. `first` holds a, then G x, which becomes g; h waits in the second half of grad_first.
template <class T> void mix_forward(const Layer &l, LayerState<T> &s, int rows) {
  for_each_vector<T>(l.out, rows, [&](int o, int r) {
    const vec<T> a = load(s.first[o] + r), m = load(s.second[o] + r), x = load(s.first[l.out + o] + r);
    vec<T> g, h;
    sigmoids<T>(x, g, h);
    store(s.first[l.out + o] + r, g);
    store(s.grad_first[l.out + o] + r, h);
    store(s.output[o] + r, vec<T>(g * a + h * m));
  });
}
template <class T> void mix_backward(const Layer &l, LayerState<T> &s, int rows) {
  for_each_vector<T>(l.out, rows, [&](int o, int r) {
    const vec<T> a = load(s.first[o] + r), m = load(s.second[o] + r), g = load(s.first[l.out + o] + r);
    const vec<T> h = load(s.grad_first[l.out + o] + r), d = load(s.grad_output[o] + r);
    store(s.grad_first[o] + r, vec<T>(d * g));
    store(s.grad_first[l.out + o] + r, vec<T>(d * (a - m) * g * h));
    store(s.grad_second[o] + r, vec<T>(d * h));
  });
}

template <class T>
inline void exponential(Batch<T> b, int features, int rows) {
  for_each_vector<T>(features, rows, [&](int o, int r) { store(b[o] + r, vec<T>(exp<T>(load(b[o] + r)))); });
}

// --- a layer ------------------------------------------------------------------------------

template <class T> void forward(const Layer &l, const T *p, LayerState<T> &s, Batch<const T> x, int rows) {
  const std::size_t n = std::size_t(l.in) * l.out;
  switch (l.kind) {
    case Kind::kLinear:
      multiply<T>(p, l.in, l.out, x, s.output, rows);
      if (l.bias)
        for_each_vector<T>(l.out, rows, [&](int o, int r) { store(s.output[o] + r, load(s.output[o] + r) + p[n + o]); });
      break;
    case Kind::kNMU: product_forward<T>(p, l.in, l.out, x, s.output, rows, s.scratch); break;
    case Kind::kNAC: multiply<T>(s.effective, l.in, l.out, x, s.output, rows); break;
    case Kind::kNACMul:
      log_magnitude<T>(l, x, s.logs, l.in, rows);
      multiply<T>(s.effective, l.in, l.out, {s.logs.data, rows}, s.output, rows);
      exponential(s.output, l.out, rows);
      break;
    case Kind::kNALU:
      // By parts of the inputs, each of which stays in cache from one line to the next.
      for (int i = 0; i < l.in; i += kPart) {
        const int count = l.in - i < kPart ? l.in - i : kPart;
        const Batch<const T> part{x[i], x.stride};
        const Batch<T> logs{s.logs[i], rows};
        log_magnitude<T>(l, part, logs, count, rows);
        multiply_part<T>(s.effective + i, l.in, count, 2 * l.out, part, s.first, rows, i > 0);
        multiply_part<T>(s.effective + 2 * n + i, l.in, count, l.out, {logs.data, rows}, s.second, rows, i > 0);
      }
      exponential(s.second, l.out, rows);
      mix_forward(l, s, rows);
      break;
    case Kind::kGatedNAUNMU:
      multiply<T>(s.effective, l.in, 2 * l.out, x, s.first, rows);
      product_forward<T>(p + n, l.in, l.out, x, s.second, rows, s.scratch);
      mix_forward(l, s, rows);
      break;
    case Kind::kRealNPU:
    case Kind::kNPU: npu_forward(l, p, s, x, rows); break;
    case Kind::kReLU:
    case Kind::kReLU6: {
      const vec<T> top = broadcast(l.kind == Kind::kReLU ? T(__builtin_inf()) : T(6));
      for_each_vector<T>(l.out, rows, [&](int o, int r) {
        const vec<T> v = load(x[o] + r);
        store(s.output[o] + r, select<T>(v > top, top, select<T>(v < zero<T>(), zero<T>(), v)));
      });
      break;
    }
  }
}

// Adds to dp the gradient by the parameters and, where dx is present, writes dx.
template <class T>
void backward(const Layer &l, const T *p, LayerState<T> &s, Batch<const T> x, int rows, Batch<T> dx, T *dp) {
  const std::size_t n = std::size_t(l.in) * l.out;
  const Batch<const T> dz{s.grad_output.data, rows};
  if (dx.data) fill_zero(dx, l.in, rows);
  fill_zero(s.grad_effective, l.kind == Kind::kNAC || l.kind == Kind::kNACMul ? n
                              : is_gated(l.kind)                              ? 3 * n
                                                                              : 0);
  switch (l.kind) {
    case Kind::kLinear:
      add_outer<T>(dz, x, dp, l.in, l.out, rows);
      if (dx.data) add_transposed<T>(p, l.in, l.out, dz, dx, rows);
      if (l.bias)
        for (int o = 0; o < l.out; ++o) {
          vec<T> total = zero<T>();
          for (int r = 0; r < rows; r += kLanes<T>) total += load(dz[o] + r);
          dp[n + o] += sum<T>(total);
        }
      break;
    case Kind::kNMU: product_backward<T>(p, l.in, l.out, x, dz, rows, dx, dp, s.scratch); break;
    case Kind::kNAC:
      add_outer<T>(dz, x, s.grad_effective, l.in, l.out, rows);
      if (dx.data) add_transposed<T>(s.effective, l.in, l.out, dz, dx, rows);
      break;
    case Kind::kNACMul:
      for_each_vector<T>(l.out, rows, [&](int o, int r) {
        store(s.grad_first[o] + r, vec<T>(load(dz[o] + r) * load(s.output[o] + r)));
      });
      add_outer<T>({s.grad_first.data, rows}, {s.logs.data, rows}, s.grad_effective, l.in, l.out, rows);
      if (dx.data) {
        fill_zero(s.grad_logs, l.in, rows);
        add_transposed<T>(s.effective, l.in, l.out, {s.grad_first.data, rows}, s.grad_logs, rows);
        add_log_magnitude_gradient<T>(x, {s.grad_logs.data, rows}, dx, l.in, rows, T(l.eps));
      }
      break;
    case Kind::kNALU:
      mix_backward(l, s, rows);
      for_each_vector<T>(l.out, rows, [&](int o, int r) {
        store(s.grad_second[o] + r, vec<T>(load(s.grad_second[o] + r) * load(s.second[o] + r)));
      });
      add_outer<T>({s.grad_first.data, rows}, x, s.grad_effective, l.in, 2 * l.out, rows);
      add_outer<T>({s.grad_second.data, rows}, {s.logs.data, rows}, s.grad_effective + 2 * n, l.in, l.out, rows);
      if (dx.data) {
        add_transposed<T>(s.effective, l.in, 2 * l.out, {s.grad_first.data, rows}, dx, rows);
        fill_zero(s.grad_logs, l.in, rows);
        add_transposed<T>(s.effective + 2 * n, l.in, l.out, {s.grad_second.data, rows}, s.grad_logs, rows);
        add_log_magnitude_gradient<T>(x, {s.grad_logs.data, rows}, dx, l.in, rows, T(l.eps));
      }
      break;
    case Kind::kGatedNAUNMU:
      mix_backward(l, s, rows);
      add_outer<T>({s.grad_first.data, rows}, x, s.grad_effective, l.in, 2 * l.out, rows);
      if (dx.data) add_transposed<T>(s.effective, l.in, 2 * l.out, {s.grad_first.data, rows}, dx, rows);
      product_backward<T>(p + n, l.in, l.out, x, {s.grad_second.data, rows}, rows, dx, dp + n, s.scratch);
      break;
    case Kind::kRealNPU:
    case Kind::kNPU: npu_backward(l, p, s, x, rows, dx, dp); break;
    case Kind::kReLU:
    case Kind::kReLU6: {
      const vec<T> top = broadcast(l.kind == Kind::kReLU ? T(__builtin_inf()) : T(6));
      if (dx.data)
        for_each_vector<T>(l.out, rows, [&](int o, int r) {
          const vec<T> v = load(x[o] + r), d = load(dz[o] + r);
          store(dx[o] + r, select<T>(v > zero<T>(), select<T>(v < top, d, zero<T>()), zero<T>()));
        });
      break;
    }
  }
  finish_gradient(l, s, dp);
}

// max over the layer's effective weights of min(|W|, |1 - |W||); Madsen & Johansen eq. 17.
template <class T> double sparsity_error(const Layer &l, const T *p, const LayerState<T> &s) {
  const std::size_t n = std::size_t(l.in) * l.out;
  double worst = 0;
  const auto scan = [&](const T *w) {
    for (std::size_t k = 0; k < n; ++k) {
      const double a = w[k] < 0 ? -double(w[k]) : double(w[k]), b = a > 1 ? a - 1 : 1 - a;
      const double d = a < b ? a : b;
      if (d > worst) worst = d;
    }
  };
  switch (l.kind) {
    case Kind::kLinear:
    case Kind::kNMU:
    case Kind::kRealNPU:
    case Kind::kNPU: scan(p); break;
    case Kind::kNAC:
    case Kind::kNACMul: scan(s.effective); break;
    case Kind::kNALU: scan(s.effective), scan(s.effective + 2 * n); break;
    case Kind::kGatedNAUNMU: scan(p), scan(p + n); break;
    default: break;
  }
  return worst;
}

}  // namespace torchalu::TORCHALU_ISA
