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
#include "files/helper/protocol.h"
#include "files/operations/operations.h"
#include "wire/decode.h"
#include "wire/json.h"

namespace {

using namespace holdfast;

template <typename Params, typename T>
void TryPrepare(wire::Json json, Result<files::Operation<T>> (*prepare)(const Params&)) {
  const auto params = wire::Decode<Params>(json);
  if (!params) return CHECK(!params.error().message.empty());
  const auto operation = prepare(*params);
  if (!operation) return CHECK(!operation.error().message.empty());
  CHECK(!operation->claims.empty());
  for (const files::Claim& claim : operation->claims) {
    CHECK(claim.path.starts_with('/') && !claim.path.contains('\0'));
  }
}

template <auto Prepare>
void Try(wire::Json params) {
  TryPrepare(params, Prepare);
}

constexpr std::array<std::pair<std::string_view, void (*)(wire::Json)>, 10> kOperations = {{
    {"fs/writeFile", Try<files::PrepareWriteFile>},
    {"fs/createDirectory", Try<files::PrepareCreateDirectory>},
    {"fs/getMetadata", Try<files::PrepareGetMetadata>},
    {"fs/canonicalize", Try<files::PrepareCanonicalize>},
    {"fs/readDirectory", Try<files::PrepareReadDirectory>},
    {"fs/remove", Try<files::PrepareRemove>},
    {"fs/copy", Try<files::PrepareCopy>},
    {"fs/rename", Try<files::PrepareRename>},
    {"fs/walk", Try<files::PrepareWalk>},
    {"fs/open", Try<files::PrepareOpen>},
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
  const auto response = files::ReadAnswer("fs/open", line);
  if (!response) return;
  CHECK(line.contains(*response));
  CHECK(files::Success("fs/open", *response) == line);
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
