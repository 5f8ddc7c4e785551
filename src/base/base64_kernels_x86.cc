// The x86-64 encoders, and the choice of a kernel. Each encoder is compiled for its own instruction set by an
// attribute, so the rest of the program keeps to the baseline and runs on any x86-64. A kernel is called only after a
// check that the CPU has its instructions.
//
// Each encoder first spreads every three input bytes b0 b1 b2 over a 32-bit lane as b1 b0 b2 b1 (lowest byte first). In
// the lane, read as a little-endian word, the four sextets (values of six bits) then lie at bits 10, 4, 22 and 16, each
// in one contiguous piece.
#include <cpuid.h>
#include <immintrin.h>

#include <array>
#include <cstdint>

#include "base/base64_decode_kernels_x86.h"
#include "base/base64_kernels.h"

namespace holdfast::base64_kernels {
namespace {

constexpr std::array<uint8_t, 64> kSpread64 = [] {
  std::array<uint8_t, 64> spread{};
  for (uint8_t lane = 0; lane < 16; ++lane) {
    const uint8_t base = lane * 3;
    spread[lane * 4 + 0] = base + 1;
    spread[lane * 4 + 1] = base;
    spread[lane * 4 + 2] = base + 2;
    spread[lane * 4 + 3] = base + 1;
  }
  return spread;
}();

#define HOLDFAST_AVX512 __attribute__((target("avx512f,avx512bw,avx512vbmi")))
#define HOLDFAST_AVX2 __attribute__((target("avx2")))

HOLDFAST_AVX512 __m512i Encode48(__m512i bytes, __m512i spread, __m512i alphabet) {
  const __m512i shifts = _mm512_set1_epi64(0x3036242a1016040a);
  const __m512i sextets = _mm512_multishift_epi64_epi8(shifts, _mm512_permutexvar_epi8(spread, bytes));
  // The permute instruction looks at the low six bits of an index only, so the other bits need not be masked out.
  return _mm512_permutexvar_epi8(sextets, alphabet);
}

HOLDFAST_AVX512 char* EncodeAvx512Vbmi(std::span<const std::byte> in, char* out) {
  const __m512i spread = _mm512_loadu_si512(kSpread64.data());
  const __m512i alphabet = _mm512_loadu_si512(kAlphabet.data());
  for (; in.size() >= 64; in = in.subspan(48), out += 64) {
    _mm512_storeu_si512(out, Encode48(_mm512_loadu_si512(in.data()), spread, alphabet));
  }
  while (in.size() >= 3) {
    const size_t groups = in.size() >= 48 ? 16 : in.size() / 3;
    const __mmask64 read = ~uint64_t{0} >> (64 - groups * 3);
    const __mmask64 written = ~uint64_t{0} >> (64 - groups * 4);
    const __m512i bytes = _mm512_maskz_loadu_epi8(read, in.data());
    _mm512_mask_storeu_epi8(out, written, Encode48(bytes, spread, alphabet));
    in = in.subspan(groups * 3);
    out += groups * 4;
  }
  return EncodeScalar(in, out);
}

// AVX2 cannot shift each 16-bit lane by a different distance. A multiplication by a power of two moves each sextet to
// its byte instead.
HOLDFAST_AVX2 __m256i Sextets(__m256i spread) {
  const __m256i odd = _mm256_and_si256(spread, _mm256_set1_epi32(0x0fc0fc00));
  const __m256i even = _mm256_and_si256(spread, _mm256_set1_epi32(0x003f03f0));
  return _mm256_or_si256(_mm256_mulhi_epu16(odd, _mm256_set1_epi32(0x04000040)),
                         _mm256_mullo_epi16(even, _mm256_set1_epi32(0x01000010)));
}

// The alphabet consists of five ranges of characters, each at a constant distance from its sextets. The class of a
// sextet is 0 for a-z, 1-10 for the digits, 11 for '+', 12 for '/' and 13 for A-Z. A byte shuffle looks up the distance
// by the class.
HOLDFAST_AVX2 __m256i Letters(__m256i sextets) {
  const __m256i distances =
      _mm256_broadcastsi128_si256(_mm_setr_epi8('a' - 26, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -19, -16, 'A', 0, 0));
  const __m256i upper = _mm256_cmpgt_epi8(_mm256_set1_epi8(26), sextets);
  const __m256i classes =
      _mm256_or_si256(_mm256_subs_epu8(sextets, _mm256_set1_epi8(51)), _mm256_and_si256(upper, _mm256_set1_epi8(13)));
  return _mm256_add_epi8(sextets, _mm256_shuffle_epi8(distances, classes));
}

HOLDFAST_AVX2 char* EncodeAvx2(std::span<const std::byte> in, char* out) {
  const __m256i spread = _mm256_broadcastsi128_si256(_mm_setr_epi8(1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10));
  // Each step uses 24 bytes, but its second load of 16 bytes begins at byte 12, so 28 bytes are read.
  for (; in.size() >= 28; in = in.subspan(24), out += 32) {
    const auto* low = reinterpret_cast<const __m128i*>(in.data());
    const auto* high = reinterpret_cast<const __m128i*>(in.data() + 12);
    const __m256i bytes = _mm256_loadu2_m128i(high, low);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), Letters(Sextets(_mm256_shuffle_epi8(bytes, spread))));
  }
  return EncodeScalar(in, out);
}

#undef HOLDFAST_AVX512
#undef HOLDFAST_AVX2

constexpr std::array kKernels = {
    Kernel{"avx512vbmi", EncodeAvx512Vbmi, DecodeAvx512Vbmi},
    Kernel{"avx2", EncodeAvx2, DecodeAvx2},
    Kernel{"scalar", EncodeScalar, DecodeScalar},
};

// Returns which registers the operating system saves, as the bits of XCR0; 0 if the processor does not say.
uint32_t SavedRegisters() {
  uint32_t eax, ebx, ecx, edx;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & bit_OSXSAVE) == 0) return 0;
  asm("xgetbv" : "=a"(eax), "=d"(edx) : "c"(0));
  return eax;
}

// Returns the index of the fastest kernel that this CPU can run. It asks the processor at the first use,
// because the compiler's own check would ask before main, twelve times, which costs 80 us in a virtual machine at every
// start of the sandbox.
size_t FirstAvailable() {
  constexpr uint32_t ymm = 0b110, zmm = 0b1110'0110;
  const uint32_t saved = SavedRegisters();
  uint32_t eax, ebx, ecx, edx;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return 2;
  if ((saved & zmm) == zmm && (ebx & bit_AVX512BW) != 0 && (ecx & bit_AVX512VBMI) != 0) return 0;
  return (saved & ymm) == ymm && (ebx & bit_AVX2) != 0 ? 1 : 2;
}

}  // namespace

std::span<const Kernel> AvailableKernels() {
  static const size_t first = FirstAvailable();
  return std::span(kKernels).subspan(first);
}

}  // namespace holdfast::base64_kernels
