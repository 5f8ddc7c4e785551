#include "sandbox/denial/sandbox_denial.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::sandbox {
namespace {

constexpr std::array<std::string_view, 7> kPhrases = {
    "operation not permitted", "permission denied", "read-only file system", "seccomp", "sandbox", "landlock",
    "failed to write file"};

constexpr int kFilteredExitCode = 128 + SIGSYS;

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool HasPhrase(std::string text) {
  std::ranges::transform(text, text.begin(), Lower);
  return std::ranges::any_of(kPhrases, [&](std::string_view phrase) { return text.contains(phrase); });
}

bool MentionsDenial(const process::OutputLog& output) {
  std::array<std::string, process::kStreams> streams;
  std::string all;
  for (const process::Chunk* chunk : output.ReadAfter(0, SIZE_MAX)) {
    streams[static_cast<size_t>(chunk->stream)] += chunk->bytes;
    all += chunk->bytes;
  }
  // A phrase may be interrupted by chunks of another stream, or may begin in one stream and end in another.
  return std::ranges::any_of(streams, HasPhrase) || HasPhrase(std::move(all));
}

}  // namespace

bool LooksDenied(int exit_code, const process::OutputLog& output) {
  return exit_code != 0 && (exit_code == kFilteredExitCode || MentionsDenial(output));
}

}  // namespace holdfast::sandbox
