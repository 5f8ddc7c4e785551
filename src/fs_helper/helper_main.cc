#include "fs_helper/helper_main.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "fs_helper/channel.h"
#include "fs_helper/operations.h"
#include "fs_helper/placeholder_view.h"
#include "fs_helper/protocol.h"
#include "wire/decode.h"
#include "wire/encode.h"
#include "wire/json.h"

namespace holdfast::fs_helper {
namespace {

constexpr size_t kMaxRequestBytes = size_t{1} << 30;  // the server has limits of its own

// What an operation brought: JSON, and for fs/open a file.
struct Outcome {
  std::string json;
  std::optional<fs::File> file;
};

// What takes a link at the end of a path as it is.
template <typename Params>
constexpr LastLink kLastLink = LastLink::kFollow;
template <>
constexpr LastLink kLastLink<wire::FsCopyParams> = LastLink::kKeep;
template <>
constexpr LastLink kLastLink<wire::FsRemoveParams> = LastLink::kKeep;
template <>
constexpr LastLink kLastLink<wire::FsRenameParams> = LastLink::kKeep;

template <typename Params, typename T>
Result<Outcome> Run(wire::Json json, Result<Operation<T>> (*prepare)(const Params&)) {
  TRY(Params params, wire::Decode<Params>(json));
  TRY(Operation<T> operation, prepare(params));
  for (const Claim& claim : operation.claims) TRY_VOID(CheckPlaceholder(claim, kLastLink<Params>));
  TRY(T result, operation.run());
  if constexpr (requires { HidePlaceholders("", result); }) HidePlaceholders(operation.claims.front().path, result);
  Outcome outcome;
  if constexpr (std::same_as<T, fs::File>) {
    outcome.json = "{}";
    outcome.file = std::move(result);
  } else {
    outcome.json = wire::Encode(std::move(result));
  }
  return outcome;
}

template <auto Prepare>
Result<Outcome> RunPrepared(wire::Json params) {
  return Run(params, Prepare);
}

struct Known {
  std::string_view name;
  Result<Outcome> (*run)(wire::Json params);
};

constexpr std::array kOperations = {
    Known{"fs/writeFile", RunPrepared<PrepareWriteFile>},
    Known{"fs/createDirectory", RunPrepared<PrepareCreateDirectory>},
    Known{"fs/getMetadata", RunPrepared<PrepareGetMetadata>},
    Known{"fs/canonicalize", RunPrepared<PrepareCanonicalize>},
    Known{"fs/readDirectory", RunPrepared<PrepareReadDirectory>},
    Known{"fs/remove", RunPrepared<PrepareRemove>},
    Known{"fs/copy", RunPrepared<PrepareCopy>},
    Known{"fs/rename", RunPrepared<PrepareRename>},
    Known{"fs/walk", RunPrepared<PrepareWalk>},
    Known{"fs/open", RunPrepared<PrepareOpen>},
};

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

Result<> Answer(Channel& channel, std::string_view line) {
  wire::Document document;
  const auto request = ReadRequest(document, line);
  if (!request) return channel.Send(Failure(request.error()));
  const auto* known = std::ranges::find(kOperations, request->operation, &Known::name);
  if (known == kOperations.end()) {
    return channel.Send(
        Failure({ErrorKind::kUnknownMethod, fmt::format("no file operation is called {}", request->operation)}));
  }
  auto outcome = known->run(request->params);
  if (!outcome) return channel.Send(Failure(outcome.error()));
  const auto fd = outcome->file ? std::optional(outcome->file->fd()) : std::nullopt;
  return channel.Send(Success(known->name, outcome->json), fd);
}

}  // namespace

int RunHelper() {
  Channel channel(STDIN_FILENO, kMaxRequestBytes);
  for (;;) {
    auto line = channel.Receive();
    if (!line) return 1;
    if (!*line) return 0;
    if (!Answer(channel, (*line)->text)) return 1;  // the server is gone
  }
}

}  // namespace holdfast::fs_helper
