// The tree behind a Document, and the handler that builds it from the events of Boost.JSON's parser.
#pragma once

#include <array>
#include <boost/json/error.hpp>
#include <boost/json/string_view.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wire/json_limits.h"

namespace holdfast::wire {

enum class JsonKind : uint8_t { kNull, kFalse, kTrue, kString, kInt64, kUint64, kDouble, kArray, kObject };

struct JsonNode {
  JsonKind kind = JsonKind::kNull;
  union {
    int64_t int64 = 0;
    uint64_t uint64;
  };
  std::string_view text;               // the text of a kString or a kDouble
  std::span<const JsonNode> children;  // the elements of a kArray; the keys and values of a kObject in turn
};

// The builder keeps a stack of nodes. When an array or object ends, its nodes move from the stack into the arena, and
// one node for the whole takes their place.
class JsonTreeBuilder {
 public:
  // Boost.JSON's parser reads its limits from these constants.
  static constexpr size_t max_object_size = kMaxJsonValues;
  static constexpr size_t max_array_size = kMaxJsonValues;
  static constexpr size_t max_key_size = std::numeric_limits<int32_t>::max();
  static constexpr size_t max_string_size = std::numeric_limits<int32_t>::max();

  using ErrorCode = boost::json::error_code;
  using Chars = boost::json::string_view;

  void Reset(std::string_view text);
  const JsonNode* root() const { return &stack_.front(); }
  bool too_many_values() const { return values_ > kMaxJsonValues; }
  bool has_repeated_key() const { return has_repeated_key_; }

  // Boost.JSON's parser calls these functions by their names.
  bool on_document_begin(ErrorCode&) { return true; }
  bool on_document_end(ErrorCode&) { return true; }
  bool on_object_begin(ErrorCode& ec) { return Count(ec); }
  bool on_object_end(size_t size, ErrorCode& ec);
  bool on_array_begin(ErrorCode& ec) { return Count(ec); }
  bool on_array_end(size_t size, ErrorCode& ec);
  bool on_key_part(Chars text, size_t, ErrorCode&) { return AddPart(text); }
  bool on_key(Chars text, size_t, ErrorCode&);
  bool on_string_part(Chars text, size_t, ErrorCode&) { return AddPart(text); }
  bool on_string(Chars text, size_t, ErrorCode& ec);
  bool on_number_part(Chars, ErrorCode&) { return true; }
  bool on_int64(int64_t number, Chars, ErrorCode& ec);
  bool on_uint64(uint64_t number, Chars, ErrorCode& ec);
  bool on_double(double, Chars text, ErrorCode& ec);
  bool on_bool(bool value, ErrorCode& ec);
  bool on_null(ErrorCode& ec);
  bool on_comment_part(Chars, ErrorCode&) { return true; }
  bool on_comment(Chars, ErrorCode&) { return true; }

 private:
  bool Count(ErrorCode& ec);
  bool AddPart(Chars text);
  bool Push(JsonKind kind, ErrorCode& ec);
  void PushString(Chars last_part);
  void PushContainer(JsonKind kind, size_t nodes);
  std::string_view Keep(std::string_view text);

  // The first block of the arena, so that a small message is parsed without an allocation for its tree.
  std::array<std::byte, 16 * 1024> buffer_;
  std::optional<std::pmr::monotonic_buffer_resource> arena_;
  std::string_view text_;  // the message
  std::string parts_;      // the pieces so far of a string that the parser passes in several pieces
  std::vector<JsonNode> stack_;
  size_t values_ = 0;
  bool has_repeated_key_ = false;
};

}  // namespace holdfast::wire
