#include "wire/sandbox_messages.h"

#include "wire/json.h"
#include "wire/json_text.h"

namespace holdfast::wire {

// The text is parsed and written anew, because it becomes a part of the request: a stray bracket could add members to
// it, a line break would end the message where each message is a line, and null would mean that there is no sandbox.
Result<Sandbox> Sandbox::FromJson(std::string_view text) {
  Document document;
  const auto json = document.Parse(text);
  if (!json) return Fail(ErrorKind::kInvalidParams, "sandbox: " + json.error().message);
  if (!json->is_object()) {
    return Fail(ErrorKind::kInvalidParams, "sandbox: expected an object, got " + std::string(json->kind()));
  }
  Sandbox sandbox;
  AppendJson(sandbox.sent.text, *json);
  return sandbox;
}

}  // namespace holdfast::wire
