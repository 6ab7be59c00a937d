// How numbers are laid out in bits, and the constants of the elementary functions.
#pragma once

#include <cstdint>

namespace torchalu::TORCHALU_ISA {

template <class T> struct format;
template <> struct format<float> {
  using integer = std::int32_t;
  static constexpr int mantissa = 23;
  static constexpr integer bias = 127, sign = integer(0x80000000u), magic_bits = 0x4b400000;
  static constexpr float magic = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  static constexpr float exp_high = 89.0f, exp_low = -104.0f;
  static constexpr float ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;
  static constexpr integer root_half = 0x3f3504f3;
  static constexpr int exp_terms = 7, sin_terms = 5, atanh_terms = 5;
  static constexpr float half_pi_1 = 1.5703125f, half_pi_2 = 4.8351287841796875e-4f,
                         half_pi_3 = 3.13855707645416259765625e-7f;
  static constexpr float half_pi_rest = 6.077100506506192e-11f;
};
template <> struct format<double> {
  using integer = std::int64_t;
  static constexpr int mantissa = 52;
  static constexpr integer bias = 1023, sign = integer(0x8000000000000000ull),
                           magic_bits = 0x4338000000000000;
  static constexpr double magic = 6755399441055744.0;  // 1.5 * 2^52
  static constexpr double exp_high = 710.0, exp_low = -746.0;
  static constexpr double ln2_high = 0x1.62e42fee00000p-1, ln2_low = 0x1.a39ef35793c76p-33;
  static constexpr integer root_half = 0x3fe6a09e667f3bcd;
  static constexpr int exp_terms = 13, sin_terms = 9, atanh_terms = 11;
  static constexpr double half_pi_1 = 0x1.921fb54400000p+0, half_pi_2 = 0x1.0b4611a600000p-34,
                          half_pi_3 = 0x1.3198a2e000000p-69;
  static constexpr double half_pi_rest = 0x1.b839a252049c1p-104;
};

}  // namespace torchalu::TORCHALU_ISA
