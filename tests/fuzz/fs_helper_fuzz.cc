// The first byte picks the end of the channel: `a` is an answer as the server reads it, anything else a request as the
// helper does. Nothing crashes and every refusal says why; what an operation would touch are paths that can be passed
// to the kernel. Nothing is run.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "fs_helper/operations.h"
#include "fs_helper/protocol.h"
#include "wire/decode.h"
#include "wire/json.h"

namespace {

using namespace holdfast;

template <typename Params, typename T>
void TryPrepare(wire::Json json, Result<fs_helper::Operation<T>> (*prepare)(const Params&)) {
  const auto params = wire::Decode<Params>(json);
  if (!params) return CHECK(!params.error().message.empty());
  const auto operation = prepare(*params);
  if (!operation) return CHECK(!operation.error().message.empty());
  CHECK(!operation->claims.empty());
  for (const fs_helper::Claim& claim : operation->claims) {
    CHECK(claim.path.starts_with('/') && !claim.path.contains('\0'));
  }
}

template <auto Prepare>
void Try(wire::Json params) {
  TryPrepare(params, Prepare);
}

constexpr std::array<std::pair<std::string_view, void (*)(wire::Json)>, 10> kOperations = {{
    {"fs/writeFile", Try<fs_helper::PrepareWriteFile>},
    {"fs/createDirectory", Try<fs_helper::PrepareCreateDirectory>},
    {"fs/getMetadata", Try<fs_helper::PrepareGetMetadata>},
    {"fs/canonicalize", Try<fs_helper::PrepareCanonicalize>},
    {"fs/readDirectory", Try<fs_helper::PrepareReadDirectory>},
    {"fs/remove", Try<fs_helper::PrepareRemove>},
    {"fs/copy", Try<fs_helper::PrepareCopy>},
    {"fs/rename", Try<fs_helper::PrepareRename>},
    {"fs/walk", Try<fs_helper::PrepareWalk>},
    {"fs/open", Try<fs_helper::PrepareOpen>},
}};

void TryRequest(std::string_view line) {
  static wire::Document document;
  const auto json = document.Parse(line);
  if (!json) return CHECK(!json.error().message.empty());
  const auto* known = std::ranges::find(kOperations, json->Find("operation").string().value_or(""),
                                        [](const auto& entry) { return entry.first; });
  if (known != kOperations.end()) known->second(json->Find("params"));
}

// A response is given as it stands in the line; its JSON is for the client to read.
void TryAnswer(std::string_view line) {
  const auto response = fs_helper::ReadAnswer("fs/open", line);
  if (!response) return;
  CHECK(line.contains(*response));
  CHECK(fs_helper::Success("fs/open", *response) == line);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(bytes + 1), size - 1);
  if (bytes[0] == 'a') {
    TryAnswer(text);
  } else {
    TryRequest(text);
  }
  return 0;
}
