#include "exec_server/capabilities/capability_service.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/file_uri.h"
#include "base/result.h"
#include "codex_config/config_stack.h"
#include "codex_config/toml_selection.h"
#include "exec_server/capabilities/describe_installed.h"
#include "files/capabilities/scan_root.h"
#include "files/operations/table.h"
#include "files/workers/file_step.h"
#include "sandbox/policy/sandbox_spec.h"
#include "wire/encode.h"
#include "wire/environment_config_messages.h"
#include "wire/json.h"

namespace holdfast::exec_server {
namespace {

// ReadEnvironmentConfig makes the answer to environmentConfig/read.
struct UserPlaces {
  std::string user_home;
  std::string system;
};

constexpr size_t kMaxPaths = 256;
constexpr size_t kMaxKeys = 64;  // of a path

std::unexpected<Error> Refuse(std::string message) { return Fail(ErrorKind::kInvalidParams, std::move(message)); }

Result<> CheckPaths(const char* name, const std::vector<wire::TomlPath>& paths) {
  if (paths.size() > kMaxPaths) return Refuse(fmt::format("{}: more than {} paths", name, kMaxPaths));
  for (const wire::TomlPath& path : paths) {
    if (path.empty()) return Refuse(fmt::format("{}: a path needs at least one key", name));
    if (path.size() > kMaxKeys) return Refuse(fmt::format("{}: a path has more than {} keys", name, kMaxKeys));
  }
  return {};
}

// Returns the part of each layer that was asked for. A layer without any is left out.
wire::ConfigLayers Selected(const codex_config::Stack& stack, const std::vector<wire::TomlPath>& paths) {
  wire::ConfigLayers selected;
  for (size_t i = 0; i < stack.layers.size(); ++i) {
    const codex_config::Layer& layer = stack.layers[i];
    const toml::table part = codex_config::Select(layer.table, paths);
    if (part.empty()) continue;
    if (i < stack.system_layers) ++selected.cloud_insertion_index;
    selected.layers.push_back(
        {.source = layer.source, .base_dir = FileUri(layer.directory), .toml = codex_config::TomlText(part)});
  }
  return selected;
}

std::string HostName() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

// ReadEnvironmentConfig makes the answer to environmentConfig/read.
Result<> CheckEnvironmentConfigParams(const wire::ReadEnvironmentConfigParams& params) {
  if (params.config_paths.empty() && params.requirements_paths.empty()) {
    return Refuse("configPaths and requirementsPaths: both are empty, at least one path is needed");
  }
  TRY_VOID(CheckPaths("configPaths", params.config_paths));
  return CheckPaths("requirementsPaths", params.requirements_paths);
}

// `cwd` is the directory that the params name. This function reads files, and may block.
Result<wire::ReadEnvironmentConfigResult> ReadEnvironmentConfig(const wire::ReadEnvironmentConfigParams& params,
                                                                const std::string& cwd, const UserPlaces& places) {
  TRY(std::string codex_home, codex_config::FindCodexHome(places.user_home));
  const codex_config::ConfigPlaces files{.system = places.system, .codex_home = codex_home};
  TRY(const codex_config::Stack config, codex_config::ReadConfig(files, cwd));
  TRY(const codex_config::Stack requirements, codex_config::ReadRequirements(files));
  return wire::ReadEnvironmentConfigResult{.user_home_dir = FileUri(places.user_home),
                                           .codex_home_dir = FileUri(codex_home),
                                           .hostname = HostName(),
                                           .config = Selected(config, params.config_paths),
                                           .requirements = Selected(requirements, params.requirements_paths)};
}

constexpr size_t kMaxRoots = 128;
constexpr size_t kMaxRootsBytes = 32u << 20;  // of all roots together, as JSON
constexpr size_t kEnvelopeBytes = 64u << 10;  // the rest of the message, with the paths, warnings and errors
constexpr size_t kReadingBytes = 24u << 20;   // the files that the other two methods read, and their answers

files::FileStep TextStep(std::string text) {
  return [text = std::move(text)](files::HelperUse*, std::string& json, size_t) -> Result<size_t> {
    json += text;
    return 0;
  };
}

// Returns the step that scans one root. `room` is what it and the roots behind it may have; only one step at a time
// runs.
files::FileStep ScanStep(wire::CapabilityRoot root, std::shared_ptr<size_t> room, bool is_first) {
  return [root = std::move(root), room = std::move(room), is_first](files::HelperUse* helper, std::string& json,
                                                                    size_t) -> Result<size_t> {
    files::ScanRootParams params;
    static_cast<wire::CapabilityRoot&>(params) = root;
    params.max_bytes = *room;
    std::string scanned;
    if (helper != nullptr) {
      TRY_VOID(helper->Call(files::kScanRoot.method, wire::Encode(params), scanned));
    } else {
      TRY(auto operation, files::kScanRoot.prepare(params));
      TRY(wire::DiscoveredRoot found, operation.TakeUnguarded()());
      scanned = wire::Encode(std::move(found));
    }
    *room -= std::min(*room, scanned.size());
    if (!is_first) json += ',';
    json += scanned;
    return 0;
  };
}

Result<files::Installed> FindInstalled(const files::InstalledPlaces& places, files::HelperUse* helper) {
  if (helper == nullptr) {
    TRY(auto operation, files::kFindInstalled.prepare(places));
    return operation.TakeUnguarded()();
  }
  std::string json;
  TRY_VOID(helper->Call(files::kFindInstalled.method, wire::Encode(places), json));
  wire::Document document;
  TRY(const wire::Json parsed, document.Parse(json));
  return wire::Decode<files::Installed>(parsed, "the answer of the file helper");
}

}  // namespace

void CapabilityService::DiscoverRoots(FileAttachment& attachment, const wire::DiscoverRootsParams& params,
                                      rpc::Reply<wire::DiscoverRootsResult> reply) {
  if (params.roots.size() > kMaxRoots) {
    return reply.Fail({ErrorKind::kInvalidRequest, fmt::format("roots: more than {}", kMaxRoots)});
  }
  const size_t message_bytes = attachment.client().max_message_bytes;
  const size_t longest = message_bytes < kEnvelopeBytes ? 0 : message_bytes - kEnvelopeBytes;
  const auto room = std::make_shared<size_t>(std::min(kMaxRootsBytes, longest));
  const size_t most = std::min(*room, params.roots.size() * files::ScanRoom{}.bytes);
  FileRequest request{.claims = {}, .step = TextStep(R"({"roots":[)"), .needed_bytes = most + kEnvelopeBytes};
  for (const auto& root : params.roots) {
    const auto path = ParsePath(root.path);
    if (!path) return reply.Fail(path.error());
    auto sandbox = sandbox::DecodeFileSandbox(root.sandbox, places_.server_cwd);
    if (!sandbox) return reply.Fail(sandbox.error());
    request.claims.push_back({*path, Access::kRead});
    auto step = ScanStep(root, room, request.further.empty());
    request.further.push_back({.sandbox = *std::move(sandbox), .step = std::move(step)});
  }
  request.further.push_back({.sandbox = std::nullopt, .step = TextStep("]}")});
  requests_.Start(attachment, std::move(request), std::move(reply).Untyped());
}

void CapabilityService::Discover(FileAttachment& attachment,
                                 const wire::Sandboxed<wire::DiscoverCapabilitiesParams>& params,
                                 rpc::Reply<wire::DiscoverCapabilitiesResult> reply) {
  const auto cwd = ParsePath(params.cwd);
  if (!cwd) return reply.Fail(cwd.error());
  auto sandbox = sandbox::DecodeFileSandbox(params.sandbox, *cwd);
  if (!sandbox) return reply.Fail(sandbox.error());
  auto discover = [places = places_](files::HelperUse* helper, std::string& json, size_t) -> Result<size_t> {
    TRY(std::string codex_home, codex_config::FindCodexHome(places.user_home));
    TRY(files::Installed installed,
        FindInstalled({.codex_home = codex_home, .user_home = places.user_home, .system = places.system}, helper));
    auto result = DescribeInstalled(std::move(installed));
    wire::Encoder(json).Value(result);
    return 0;
  };
  FileRequest request{
      .claims = {}, .sandbox = *std::move(sandbox), .step = std::move(discover), .needed_bytes = kReadingBytes};
  requests_.Start(attachment, std::move(request), std::move(reply).Untyped());
}

void CapabilityService::ReadConfig(FileAttachment& attachment, const wire::ReadEnvironmentConfigParams& params,
                                   rpc::Reply<wire::ReadEnvironmentConfigResult> reply) {
  if (auto checked = CheckEnvironmentConfigParams(params); !checked) return reply.Fail(checked.error());
  const auto cwd = ParsePath(params.cwd);
  if (!cwd) return reply.Fail(cwd.error());
  auto read = [params, cwd = *cwd, places = places_]() {
    return ReadEnvironmentConfig(params, cwd, {.user_home = places.user_home, .system = places.system});
  };
  FileRequest request{.claims = {},
                      .step = files::EncodingStep<wire::ReadEnvironmentConfigResult>(std::move(read)),
                      .needed_bytes = kReadingBytes};
  requests_.Start(attachment, std::move(request), std::move(reply).Untyped());
}

}  // namespace holdfast::exec_server
