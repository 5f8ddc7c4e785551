// The first byte, counted from '0', picks a params struct; the rest is JSON for it. Nothing crashes, and every refusal
// says why. What decodes also goes through the checks that come before any work: the commands and paths that come out
// can be passed to the kernel.
#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/base64.h"
#include "base/check.h"
#include "base/file_uri.h"
#include "exec_server/processes/start_command.h"
#include "sandbox/policy/permission_profile.h"
#include "sandbox/policy/sandbox_spec.h"
#include "wire/decode.h"
#include "wire/methods.h"

namespace {

using namespace holdfast;

bool IsClean(const std::string& text) { return !text.contains('\0'); }

void UsePath(const std::string& text) {
  const auto path = ParsePath(text);
  if (!path) return CHECK(!path.error().message.empty());
  CHECK(path->starts_with('/') && IsClean(*path));
}

// What is restricted is never taken for something that is not.
void UseSandbox(const std::optional<wire::Sandbox>& sandbox) {
  if (!sandbox) return;
  const auto spec = sandbox::DecodeSandbox(*sandbox, "/cwd");
  const auto files = sandbox::DecodeFileSandbox(sandbox, "/cwd");
  if (!spec) return CHECK(!files && !spec.error().message.empty());
  CHECK(spec->policy_cwd.starts_with('/'));
  CHECK(!files || files->has_value() == spec->restricts_files());
  const auto again = sandbox::ParseProfile(sandbox::ProfileText(spec->profile));
  CHECK(again && *again == spec->profile);
}

// The text is of the message: it is read here to show that it is still there.
void UseBase64(std::string_view text) {
  const auto bytes = Base64Decode(text);
  CHECK(!bytes || bytes->size() == text.size() / 4 * 3 - static_cast<size_t>(std::ranges::count(text, '=')));
}

void Use(const auto&) {}

void Use(const std::derived_from<wire::FsPathParams> auto& params) { UsePath(params.path); }

void Use(const wire::FsWriteFileParams& params) {
  UsePath(params.path);
  UseBase64(params.data_base64);
}

template <typename T>
  requires std::same_as<T, wire::FsCopyParams> || std::same_as<T, wire::FsRenameParams>
void Use(const T& params) {
  UsePath(params.source_path);
  UsePath(params.destination_path);
}

void Use(const wire::FsWriteBlockParams& params) { UseBase64(params.chunk); }

void Use(const wire::FsWatchMissingParams& params) {
  for (const std::string& path : params.missing) UsePath(path);
  if (params.present) UsePath(*params.present);
}

void Use(const wire::HttpRequestParams& params) {
  if (params.body_base64) UseBase64(*params.body_base64);
}

template <typename T>
void Use(const wire::Sandboxed<T>& params) {
  UseSandbox(params.sandbox);
  Use(static_cast<const T&>(params));
}

void Use(const wire::ProcessStartParams& params) {
  UseSandbox(params.sandbox);
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
    // From '0' on.
    &TryDecode<wire::ProcessStartParams>,
    &TryDecode<wire::InitializeParams>,
    &TryDecode<wire::ProcessReadParams>,
    &TryDecode<wire::ProcessWriteParams>,
    &TryDecode<wire::ProcessIdParams>,
    &TryDecode<wire::ProcessResizeParams>,
    &TryDecode<wire::ProcessSignalParams>,
    &TryDecode<wire::ProcessWaitParams>,
    &TryDecode<wire::ProcessListParams>,
    &TryDecode<wire::ProcessTerminateParams>,
    // From ':' on.
    &TryDecode<wire::EnvironmentParams>,
    &TryDecode<wire::Sandboxed<wire::FsPathParams>>,
    &TryDecode<wire::Sandboxed<wire::FsFollowParams>>,
    &TryDecode<wire::Sandboxed<wire::FsWriteFileParams>>,
    &TryDecode<wire::Sandboxed<wire::FsCreateDirectoryParams>>,
    &TryDecode<wire::Sandboxed<wire::FsRemoveParams>>,
    &TryDecode<wire::Sandboxed<wire::FsCopyParams>>,
    // From 'A' on.
    &TryDecode<wire::Sandboxed<wire::FsRenameParams>>,
    &TryDecode<wire::Sandboxed<wire::FsWalkParams>>,
    &TryDecode<wire::Sandboxed<wire::FsOpenParams>>,
    &TryDecode<wire::FsHandle>,
    &TryDecode<wire::FsReadBlockParams>,
    &TryDecode<wire::FsWriteBlockParams>,
    &TryDecode<wire::Sandboxed<wire::FsWatchMissingParams>>,
    &TryDecode<wire::Sandboxed<wire::HttpRequestParams>>,
    // From 'I' on: the messages that a client reads.
    &TryDecode<wire::InitializeResult>,
    &TryDecode<wire::ProcessReadResult>,
    &TryDecode<wire::ProcessListResult>,
    &TryDecode<wire::FsWalkResult>,
    &TryDecode<wire::HttpRequestResult>,
    &TryDecode<wire::ProcessOutputParams>,
    &TryDecode<wire::HttpBodyDeltaParams>,
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  if (size == 0) return 0;
  static wire::Document document;
  const auto json = document.Parse({reinterpret_cast<const char*>(bytes + 1), size - 1});
  if (json) kDecoders[static_cast<uint8_t>(bytes[0] - '0') % kDecoders.size()](*json);
  return 0;
}
