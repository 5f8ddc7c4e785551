// A Document owns one parsed JSON message, and a Json is a view of one value in it. Boost.JSON does the parsing and
// stays inside json.cc and json_tree.*. The tree is our own, because its strings are views of the message: a file that
// arrives as base64 is not copied only to be read.
//
// Parsing is strict, because the text comes from a client that is not trusted: it must be valid UTF-8, no object may
// have a key twice, and the depth and the number of values are bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace holdfast::wire {

struct JsonNode;

class Json {
 public:
  Json() = default;
  explicit Json(const JsonNode* node) : node_(node) {}

  bool is_absent() const { return node_ == nullptr; }
  bool is_null() const;  // true also for an absent value
  bool is_object() const;
  bool is_array() const;

  std::optional<bool> boolean() const;
  std::optional<std::string_view> string() const;
  std::optional<int64_t> int64() const;    // integers only; 1.0 is not an integer
  std::optional<uint64_t> uint64() const;  // integers only, not negative
  std::string_view fraction() const;       // the text of a number that is not a 64-bit integer; otherwise empty

  // The number of elements of an array or of members of an object, and 0 for any other value.
  size_t size() const;
  Json at(size_t index) const;            // an element of an array
  Json Find(std::string_view key) const;  // absent if there is no such member, or if this value is not an object
  void ForEachMember(const std::function<void(std::string_view key, Json value)>& visit) const;

  // Returns the kind of the value with its article, for error messages: "a string", "a number", "null".
  std::string_view kind() const;

 private:
  const JsonNode* node_ = nullptr;
};

class Document {
 public:
  Document();
  ~Document();
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

  // Parses `text` and discards the message that was parsed before. The returned view is valid until the next Parse or
  // Clear, and only as long as `text` is.
  Result<Json> Parse(std::string_view text);

  // Frees the memory of the last message.
  void Clear();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace holdfast::wire
