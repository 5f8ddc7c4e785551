// Reading JSON: a Document owns one parsed message, a Json is a view of one value in it. Boost.JSON, which does the
// parsing, stays in json.cc; the tree is our own, because its strings are views of the message: a file that arrives as
// base64 is not copied to be looked at.
//
// Parsing is strict, because the text comes from a peer we do not trust: valid UTF-8, no duplicate keys anywhere,
// bounded depth and number of values.
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
  bool is_null() const;  // absent counts as null
  bool is_object() const;
  bool is_array() const;

  std::optional<bool> boolean() const;
  std::optional<std::string_view> string() const;
  std::optional<int64_t> int64() const;    // integers only: 1.0 is not one
  std::optional<uint64_t> uint64() const;  // integers only, not negative

  // Arrays and objects.
  size_t size() const;
  Json at(size_t index) const;            // of an array
  Json Find(std::string_view key) const;  // absent when there is none, or when this is no object
  void ForEachMember(const std::function<void(std::string_view key, Json value)>& visit) const;

  // "a string", "a number", "null", ...: for error messages.
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

  // Replaces what was parsed before; the view is valid until the next Parse or Clear, and as long as `text` is.
  Result<Json> Parse(std::string_view text);

  // Gives the memory of the last message back.
  void Clear();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace holdfast::wire
