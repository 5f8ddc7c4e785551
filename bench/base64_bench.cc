// Benchmarks of base64, for each kernel: the throughput at the size of a short line, of one read from a pipe, and of
// large files. The throughput is counted in bytes of data, not of base64 text.
#include "base/base64.h"

#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/base64_kernels.h"

namespace holdfast {
namespace {

void EncodeWith(benchmark::State& state, base64_kernels::Encode encode) {
  const std::vector<std::byte> in(static_cast<size_t>(state.range(0)), std::byte{0x5a});
  std::string out(Base64EncodedSize(in.size()), '\0');
  for (auto _ : state) benchmark::DoNotOptimize(encode(in, out.data()));
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void DecodeWith(benchmark::State& state, base64_kernels::Decode decode) {
  const std::vector<std::byte> in(static_cast<size_t>(state.range(0)), std::byte{0x5a});
  const std::string text = Base64Encode(in);
  std::string out(in.size() + 2, '\0');
  for (auto _ : state) benchmark::DoNotOptimize(decode(text, out.data()));
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

// Measures the whole decoder, with the allocation of the result and the padding.
void Decode(benchmark::State& state) {
  const std::vector<std::byte> in(static_cast<size_t>(state.range(0)), std::byte{0x5a});
  const std::string text = Base64Encode(in);
  for (auto _ : state) benchmark::DoNotOptimize(Base64Decode(text));
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(Decode)->Arg(64)->Arg(8192)->Arg(1 << 20)->Arg(16 << 20);

const bool kRegistered = [] {
  for (const base64_kernels::Kernel& kernel : base64_kernels::AvailableKernels()) {
    benchmark::RegisterBenchmark(std::string("Encode/").append(kernel.name).c_str(), EncodeWith, kernel.encode)
        ->Arg(64)
        ->Arg(8192)
        ->Arg(1 << 20);
    benchmark::RegisterBenchmark(std::string("Decode/").append(kernel.name).c_str(), DecodeWith, kernel.decode)
        ->Arg(64)
        ->Arg(8192)
        ->Arg(1 << 20)
        ->Arg(16 << 20);
  }
  return true;
}();

}  // namespace
}  // namespace holdfast
