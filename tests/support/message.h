// A parsed message of the server. A member is named by a path, such as message.Text("params.processId"), and an element
// of an array by its index, as in message.Number("result.chunks.0.seq"). A member that is missing or has another type
// fails the test.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "wire/json.h"

namespace holdfast::support {

class Message {
 public:
  Message() = default;  // a message without members, the result of a failed receive
  explicit Message(std::string text);

  bool Has(std::string_view path) const { return !Find(path).is_absent(); }
  bool IsNull(std::string_view path) const { return Has(path) && Find(path).is_null(); }
  std::string Text(std::string_view path) const;
  std::string Bytes(std::string_view path) const;  // decoded from base64
  int64_t Number(std::string_view path) const;
  bool Flag(std::string_view path) const;
  size_t Size(std::string_view path) const;  // of an array
  int64_t error_code() const;                // 0 for a result

  wire::Json json() const { return json_; }
  const std::string& text() const { return *text_; }

 private:
  wire::Json Find(std::string_view path) const;

  std::shared_ptr<const std::string> text_ = std::make_shared<const std::string>();  // what json_ points into
  std::shared_ptr<wire::Document> document_;
  wire::Json json_;
};

std::ostream& operator<<(std::ostream& out, const Message& message);

// These functions encode a text for params, as a JSON string or in base64.
std::string Quoted(std::string_view text);
std::string Base64(std::string_view bytes);

}  // namespace holdfast::support
