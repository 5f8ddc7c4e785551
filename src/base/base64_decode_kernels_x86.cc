// Both decoders translate each character to its sextet (its value of six bits). Two multiply-and-add steps then join
// the four sextets of a 32-bit lane into 24 bits. The three bytes of these, in reverse order and without the unused
// fourth byte of the lane, are the output. A block with a bad character is left to the scalar decoder, which finds the
// group that has it.
#include "base/base64_decode_kernels_x86.h"

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/base64_kernels.h"

namespace holdfast::base64_kernels {
namespace {

#define HOLDFAST_AVX512 __attribute__((target("avx512f,avx512bw,avx512vbmi")))
#define HOLDFAST_AVX2 __attribute__((target("avx2")))

constexpr size_t DecodedSize(size_t characters) { return characters / 4 * 3; }

// The sextet of each 7-bit character. A character outside of the alphabet has the sign bit set instead.
constexpr std::array<uint8_t, 128> kSextets = [] {
  std::array<uint8_t, 128> sextets{};
  sextets.fill(0x80);
  for (uint8_t sextet = 0; sextet < 64; ++sextet) sextets[static_cast<uint8_t>(kAlphabet[sextet])] = sextet;
  return sextets;
}();

// For each of the 48 output bytes, the position of its source in the 16 lanes of four bytes.
constexpr std::array<uint8_t, 64> kJoin64 = [] {
  std::array<uint8_t, 64> join{};
  for (uint8_t lane = 0; lane < 16; ++lane) {
    for (uint8_t i = 0; i < 3; ++i) join[lane * 3 + i] = lane * 4 + 2 - i;
  }
  return join;
}();

struct Sextets64 {
  __m512i sextets;
  __mmask64 bad;
};

HOLDFAST_AVX512 inline Sextets64 Translate64(__m512i characters) {
  const __m512i low = _mm512_loadu_si512(kSextets.data());
  const __m512i high = _mm512_loadu_si512(kSextets.data() + 64);
  // The permute instruction looks at the low seven bits only. A byte beyond ASCII is recognised by its own sign bit.
  const __m512i sextets = _mm512_permutex2var_epi8(low, characters, high);
  return {sextets, _mm512_movepi8_mask(_mm512_or_si512(sextets, characters))};
}

HOLDFAST_AVX512 inline __m512i Join64(__m512i sextets) {
  const __m512i pairs = _mm512_maddubs_epi16(sextets, _mm512_set1_epi32(0x01400140));
  const __m512i groups = _mm512_madd_epi16(pairs, _mm512_set1_epi32(0x00011000));
  return _mm512_permutexvar_epi8(_mm512_loadu_si512(kJoin64.data()), groups);
}

// Two tables that show whether a byte is outside of the alphabet, by its upper and its lower four bits. `high` assigns
// a bit to each upper half; the upper halves that occur in no character of the alphabet share one bit. `low` has, for
// each lower half, the bits of all upper halves that make no character of the alphabet together with it. A byte is bad
// when the two entries of its halves have a bit in common.
struct Halves {
  std::array<uint8_t, 16> high{}, low{};
};

constexpr Halves kBadHalves = [] {
  Halves halves;
  for (uint8_t high = 0; high < 16; ++high) {
    halves.high[high] = high >= 2 && high <= 7 ? 1 << high : 1;
    for (uint8_t low = 0; low < 16; ++low) {
      if (!kAlphabet.contains(static_cast<char>(high << 4 | low))) halves.low[low] |= halves.high[high];
    }
  }
  return halves;
}();

HOLDFAST_AVX2 inline __m256i Load16Twice(const std::array<uint8_t, 16>& table) {
  return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table.data())));
}

HOLDFAST_AVX2 inline __m256i UpperHalves(__m256i characters) {
  return _mm256_and_si256(_mm256_srli_epi16(characters, 4), _mm256_set1_epi8(0x0f));
}

HOLDFAST_AVX2 inline bool AreGood(__m256i characters) {
  const __m256i low = _mm256_and_si256(characters, _mm256_set1_epi8(0x0f));
  const __m256i high = UpperHalves(characters);
  return _mm256_testz_si256(_mm256_shuffle_epi8(Load16Twice(kBadHalves.low), low),
                            _mm256_shuffle_epi8(Load16Twice(kBadHalves.high), high)) != 0;
}

// The upper half of a character determines the distance between the character and its sextet. Only '+' and '/' have the
// same upper half but different distances, so '/' uses the entry one below.
HOLDFAST_AVX2 inline __m256i Translate32(__m256i characters) {
  const __m256i distances = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 63 - '/', 62 - '+', 52 - '0', -'A', -'A', 26 - 'a', 26 - 'a', 0, 0, 0, 0, 0, 0, 0, 0));
  const __m256i slash = _mm256_cmpeq_epi8(characters, _mm256_set1_epi8('/'));
  const __m256i classes = _mm256_add_epi8(UpperHalves(characters), slash);
  return _mm256_add_epi8(characters, _mm256_shuffle_epi8(distances, classes));
}

HOLDFAST_AVX2 inline __m256i Join32(__m256i sextets) {
  const __m256i pairs = _mm256_maddubs_epi16(sextets, _mm256_set1_epi32(0x01400140));
  const __m256i groups = _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x00011000));
  const __m256i reversed = _mm256_shuffle_epi8(
      groups, _mm256_broadcastsi128_si256(_mm_setr_epi8(2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1, -1, -1)));
  return _mm256_permutevar8x32_epi32(reversed, _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7));
}

}  // namespace

HOLDFAST_AVX512 size_t DecodeAvx512Vbmi(std::string_view text, char* out) {
  size_t offset = 0;
  // Each store writes 64 bytes, of which 48 are output. The loop runs only while so much room is left at `out`.
  for (; DecodedSize(text.size() - offset) >= 64; offset += 64, out += 48) {
    const Sextets64 block = Translate64(_mm512_loadu_si512(text.data() + offset));
    if (block.bad != 0) return offset + DecodeScalar(text.substr(offset), out);
    _mm512_storeu_si512(out, Join64(block.sextets));
  }
  while (text.size() - offset >= 4) {
    const size_t groups = std::min<size_t>((text.size() - offset) / 4, 16);
    const __mmask64 read = ~uint64_t{0} >> (64 - groups * 4);
    const __mmask64 written = ~uint64_t{0} >> (64 - groups * 3);
    const Sextets64 block = Translate64(_mm512_maskz_loadu_epi8(read, text.data() + offset));
    if ((block.bad & read) != 0) return offset + DecodeScalar(text.substr(offset), out);
    _mm512_mask_storeu_epi8(out, written, Join64(block.sextets));
    offset += groups * 4;
    out += groups * 3;
  }
  return offset;
}

HOLDFAST_AVX2 size_t DecodeAvx2(std::string_view text, char* out) {
  size_t offset = 0;
  // Each store writes 32 bytes, of which 24 are output. The loop runs only while so much room is left at `out`.
  for (; DecodedSize(text.size() - offset) >= 32; offset += 32, out += 24) {
    const __m256i characters = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text.data() + offset));
    if (!AreGood(characters)) break;
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), Join32(Translate32(characters)));
  }
  return offset + DecodeScalar(text.substr(offset), out);
}

#undef HOLDFAST_AVX512
#undef HOLDFAST_AVX2

}  // namespace holdfast::base64_kernels
