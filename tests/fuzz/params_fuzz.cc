// The first byte, a digit in the corpus, picks a params struct; the rest is JSON for it. Nothing crashes, and every
// refusal says why. What decodes as process/start also goes through the checks before a spawn: the command that comes
// out can be passed to the kernel.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "exec_server/start_command.h"
#include "wire/decode.h"
#include "wire/process_control_messages.h"
#include "wire/process_list_messages.h"
#include "wire/process_messages.h"
#include "wire/process_start_messages.h"
#include "wire/session_messages.h"

namespace {

using namespace holdfast;

bool IsClean(const std::string& text) { return !text.contains('\0'); }

void Use(const auto&) {}

void Use(const wire::ProcessStartParams& params) {
  (void)exec_server::ResolveIo(params);
  const auto command = exec_server::ResolveCommand(params, {}, {{"HOME", "/h"}, {"PATH", "/bin"}});
  if (!command) return CHECK(!command.error().message.empty());
  CHECK(!command->program.empty() && !command->argv.empty() && command->cwd.starts_with('/'));
  CHECK(IsClean(command->program) && IsClean(command->cwd) && std::ranges::all_of(command->argv, IsClean));
  CHECK(std::ranges::all_of(command->env, [](auto& entry) { return IsClean(entry.first) && IsClean(entry.second); }));
}

template <typename T>
void TryDecode(wire::Json json) {
  const auto params = wire::Decode<T>(json);
  if (params) return Use(*params);
  CHECK(params.error().kind == ErrorKind::kInvalidParams && !params.error().message.empty());
}

constexpr std::array kDecoders = {
    &TryDecode<wire::ProcessStartParams>,  &TryDecode<wire::InitializeParams>,
    &TryDecode<wire::ProcessReadParams>,   &TryDecode<wire::ProcessWriteParams>,
    &TryDecode<wire::ProcessIdParams>,     &TryDecode<wire::ProcessResizeParams>,
    &TryDecode<wire::ProcessSignalParams>, &TryDecode<wire::ProcessWaitParams>,
    &TryDecode<wire::ProcessListParams>,   &TryDecode<wire::ProcessTerminateParams>,
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  if (size == 0) return 0;
  static wire::Document document;
  const auto json = document.Parse({reinterpret_cast<const char*>(bytes + 1), size - 1});
  if (json) kDecoders[static_cast<uint8_t>(bytes[0] - '0') % kDecoders.size()](*json);
  return 0;
}
