#include "support/message.h"

#include <cstdlib>
#include <ostream>
#include <span>

#include <gtest/gtest.h>

#include "base/base64.h"
#include "wire/encode.h"

namespace holdfast::support {
namespace {

bool IsIndex(std::string_view name) { return !name.empty() && name.find_first_not_of("0123456789") == name.npos; }

}  // namespace

Message::Message(std::string text)
    : text_(std::make_shared<const std::string>(std::move(text))), document_(std::make_shared<wire::Document>()) {
  auto parsed = document_->Parse(*text_);
  if (parsed) {
    json_ = *parsed;
  } else {
    ADD_FAILURE() << "not JSON: " << text_->substr(0, 500);
  }
}

wire::Json Message::Find(std::string_view path) const {
  wire::Json at = json_;
  while (!path.empty()) {
    const std::string_view name = path.substr(0, path.find('.'));
    if (at.is_array() && IsIndex(name)) {
      const auto index = static_cast<size_t>(std::atoi(std::string(name).c_str()));
      at = index < at.size() ? at.at(index) : wire::Json();
    } else {
      at = at.Find(name);
    }
    path.remove_prefix(std::min(path.size(), name.size() + 1));
  }
  return at;
}

std::string Message::Text(std::string_view path) const {
  const auto text = Find(path).string();
  EXPECT_TRUE(text) << "no text " << path << " in " << *this;
  return std::string(text.value_or(""));
}

std::string Message::Bytes(std::string_view path) const {
  const auto bytes = Base64Decode(Text(path));
  EXPECT_TRUE(bytes) << "no base64 " << path << " in " << *this;
  return bytes.value_or("");
}

int64_t Message::Number(std::string_view path) const {
  const auto number = Find(path).int64();
  EXPECT_TRUE(number) << "no number " << path << " in " << *this;
  return number.value_or(-1);
}

bool Message::Flag(std::string_view path) const {
  const auto flag = Find(path).boolean();
  EXPECT_TRUE(flag) << "no true or false " << path << " in " << *this;
  return flag.value_or(false);
}

size_t Message::Size(std::string_view path) const {
  EXPECT_TRUE(Find(path).is_array()) << "no array " << path << " in " << *this;
  return Find(path).is_array() ? Find(path).size() : 0;
}

int64_t Message::error_code() const { return Find("error.code").int64().value_or(0); }

std::ostream& operator<<(std::ostream& out, const Message& message) { return out << message.text().substr(0, 500); }

std::string Quoted(std::string_view text) {
  std::string quoted;
  wire::AppendString(quoted, text);
  return quoted;
}

std::string Base64(std::string_view bytes) { return Base64Encode(std::as_bytes(std::span(bytes))); }

}  // namespace holdfast::support
