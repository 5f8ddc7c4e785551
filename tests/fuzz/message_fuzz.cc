// Any bytes are refused or become a message. An id that was accepted can be answered in JSON that parses back to it,
// and a result can be passed on.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "rpc/message.h"
#include "wire/json.h"
#include "wire/json_text.h"

namespace {

using namespace holdfast;

rpc::RequestId IdIn(const std::string& text) {
  wire::Document document;
  auto parsed = document.Parse(text);
  CHECK(parsed.has_value());
  const wire::Json id = parsed->Find("id");
  if (auto number = id.int64()) return *number;
  CHECK(id.string().has_value());
  return std::string(*id.string());
}

// A result that is passed on as text parses again, to the same text.
void CheckResult(const Result<wire::Json>& result) {
  if (!result) return CHECK(!result.error().message.empty());
  std::string text, again;
  wire::AppendJson(text, *result);
  wire::Document document;
  const auto parsed = document.Parse(text);
  CHECK(parsed.has_value());
  wire::AppendJson(again, *parsed);
  CHECK(again == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  static wire::Document document;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto message = rpc::ParseMessage(document, text);
  if (!message) {
    CHECK(IdIn(rpc::ErrorMessage(rpc::kNoRequest, message.error())) == rpc::kNoRequest);
    return 0;
  }
  if (const auto* response = std::get_if<rpc::Response>(&*message)) CheckResult(response->result);
  const auto* request = std::get_if<rpc::Request>(&*message);
  if (request == nullptr) return 0;
  CHECK(IdIn(rpc::BeginResult(request->id) + "{}}") == request->id);
  CHECK(IdIn(rpc::ErrorMessage(request->id, {ErrorKind::kInternal, std::string(text)})) == request->id);
  return 0;
}
