#include "files/helper/helper_main.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "files/disk/guarded_names.h"
#include "files/helper/channel.h"
#include "files/helper/protocol.h"
#include "files/operations/operations.h"
#include "files/operations/table.h"
#include "sys/placeholder.h"
#include "wire/decode.h"
#include "wire/encode.h"
#include "wire/json.h"

namespace holdfast::files {
namespace {

constexpr size_t kMaxRequestBytes = size_t{1} << 30;  // the server's own limits apply before

// The result of an operation: JSON, and for fs/open a file.
struct Outcome {
  std::string json;
  std::optional<File> file;
  bool changes = false;  // the operation changed something, and did not only read
};

Result<> CheckSpelling(const Claim& claim, const GuardedNames& guarded) {
  const int refused = claim.access == Access::kWrite ? guarded.CheckSpelling(claim.path) : 0;
  if (refused != 0) return FailErrno("write", claim.path, -refused);
  return {};
}

template <typename Params, typename T>
Result<Outcome> Run(wire::Json json, const GuardedNames& guarded, Result<Operation<T>> (*prepare)(const Params&)) {
  TRY(Params params, wire::Decode<Params>(json));
  TRY(Operation<T> operation, prepare(params));
  for (const Claim& claim : operation.claims) TRY_VOID(CheckSpelling(claim, guarded));
  TRY(T result, operation.run(guarded));
  Outcome outcome;
  outcome.changes =
      std::ranges::any_of(operation.claims, [](const Claim& claim) { return claim.access == Access::kWrite; });
  if constexpr (std::same_as<T, File>) {
    outcome.json = "{}";
    outcome.file = std::move(result);
  } else {
    outcome.json = wire::Encode(std::move(result));
  }
  return outcome;
}

struct KnownOperation {
  std::string_view name;
  Result<Outcome> (*run)(wire::Json params, const GuardedNames& guarded);
};

template <const auto& Row>
constexpr KnownOperation Known() {
  return {Row.method, [](wire::Json params, const GuardedNames& guarded) { return Run(params, guarded, Row.prepare); }};
}

template <size_t... I>
constexpr auto KnownOperations(std::index_sequence<I...>) {
  return std::array{Known<kGetMetadata>(), Known<kOpen>(), Known<kScanRoot>(), Known<kFindInstalled>(),
                    Known<std::get<I>(kOperations)>()...};
}

constexpr auto kKnownOperations = KnownOperations(std::make_index_sequence<std::tuple_size_v<decltype(kOperations)>>());

struct RequestMessage {
  std::string_view operation;
  wire::Json params;

  void Fields(wire::Decoder& f) {
    f.Required("operation", operation);
    f.Required("params", params);
  }
};

Result<RequestMessage> ReadRequest(wire::Document& document, std::string_view line) {
  TRY(const wire::Json json, document.Parse(line));
  return wire::Decode<RequestMessage>(json);
}

// Does one operation and sends the answer. When a protected path is no longer as it was when the sandbox was planned,
// this file helper is stale: it does not tell what it has read, and another file helper tries the operation again. An
// operation that has changed something is answered all the same, because it must not be done twice.
Result<> Answer(Channel& channel, std::string_view line, const GuardedNames& guarded) {
  if (!guarded.AreAsPlanned()) return channel.Send(std::string(kStale));
  wire::Document document;
  const auto request = ReadRequest(document, line);
  if (!request) return channel.Send(Failure(request.error()));
  const auto* known = std::ranges::find(kKnownOperations, request->operation, &KnownOperation::name);
  if (known == kKnownOperations.end()) {
    return channel.Send(
        Failure({ErrorKind::kUnknownMethod, fmt::format("unknown file operation {}", request->operation)}));
  }
  auto outcome = known->run(request->params, guarded);
  const bool has_changed = outcome && outcome->changes;
  if (!has_changed && !guarded.AreAsPlanned()) return channel.Send(std::string(kStale));
  if (!outcome) return channel.Send(Failure(outcome.error()));
  const auto fd = outcome->file ? std::optional(outcome->file->fd()) : std::nullopt;
  return channel.Send(Success(known->name, outcome->json), fd);
}

}  // namespace

int RunHelper(const std::vector<std::string>& absent, const std::vector<std::string>& mounted) {
  const auto guarded = GuardedNames::Open(absent, mounted);
  sys::ExpectPlaceholdersOfAnyName();  // sandboxes with other policies may have made placeholders of other names
  Channel channel(STDIN_FILENO, kMaxRequestBytes);
  for (;;) {
    auto line = channel.Receive();
    if (!line) return 1;
    if (!*line) return 0;
    // GuardedNames::Open fails if one of the directories is missing. The file tree is then no longer the one that the
    // sandbox was planned for.
    const auto answered = guarded ? Answer(channel, (*line)->text, *guarded) : channel.Send(std::string(kStale));
    if (!answered) return 1;  // the server is gone
  }
}

}  // namespace holdfast::files
