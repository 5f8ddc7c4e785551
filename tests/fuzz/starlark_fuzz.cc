// A program of rules. Any bytes run to their end or stop with a diagnostic that can be shown, within the limits; host
// functions get values whose texts are UTF-8.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/utf8.h"
#include "starlark/description.h"
#include "starlark/run.h"

namespace {

using namespace holdfast;
using namespace holdfast::starlark;

Result<> Look(const HostCall& call) {
  CHECK(call.position.line >= 1 && call.position.column >= 1);
  for (const auto& argument : call.arguments) {
    if (argument) CHECK(IsUtf8(Shown(*argument)));
  }
  return {};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const std::array host = {
      HostFunction{.name = "prefix_rule",
                   .parameters = {{"pattern"},
                                  {"decision", Presence::kOptional},
                                  {"match", Presence::kOptional},
                                  {"not_match", Presence::kOptional},
                                  {"justification", Presence::kOptional}},
                   .call = Look},
      HostFunction{.name = "host_executable", .parameters = {{"name"}, {"paths"}}, .call = Look},
  };
  const Limits limits{.text_bytes = 1 << 16, .steps = 20'000, .memory_bytes = 1 << 20};
  const auto done = Run({.name = "fuzz.rules", .text = text}, host, limits);
  if (done) return 0;
  CHECK(!done.error().message.empty());
  CHECK(done.error().position.line >= 1 && done.error().position.column >= 1);
  CHECK(IsUtf8(done.error().Text()));
  return 0;
}
