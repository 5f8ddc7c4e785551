#include "wire/json_tree.h"

#include <algorithm>
#include <functional>
#include <memory>

namespace holdfast::wire {
namespace {

constexpr size_t kKeptNodes = 1024;  // a stack with more capacity is freed after a large message

bool HasRepeatedKey(std::span<const JsonNode> keys_and_values) {
  constexpr size_t few = 16;
  const size_t members = keys_and_values.size() / 2;
  auto key = [&](size_t i) { return keys_and_values[2 * i].text; };
  if (members <= few) {
    for (size_t i = 1; i < members; ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (key(i) == key(j)) return true;
      }
    }
    return false;
  }
  std::vector<std::string_view> keys(members);
  for (size_t i = 0; i < members; ++i) keys[i] = key(i);
  std::ranges::sort(keys);
  return std::ranges::adjacent_find(keys) != keys.end();
}

}  // namespace

// The arena is replaced instead of calling release(), because an arena that was released allocates its next block even
// larger than its last one.
void JsonTreeBuilder::Reset(std::string_view text) {
  arena_.emplace(buffer_.data(), buffer_.size());
  text_ = text;
  std::string().swap(parts_);
  stack_.clear();
  if (stack_.capacity() > kKeptNodes) std::vector<JsonNode>().swap(stack_);
  values_ = 0;
  has_repeated_key_ = false;
}

bool JsonTreeBuilder::Count(ErrorCode& ec) {
  if (++values_ <= kMaxJsonValues) return true;
  ec = boost::json::error::array_too_large;
  return false;
}

bool JsonTreeBuilder::AddPart(Chars text) {
  parts_.append(text.data(), text.size());
  return true;
}

// The parser passes text that lies in the message itself, or in a buffer of its own if it had to decode escapes. Only
// the latter is copied.
std::string_view JsonTreeBuilder::Keep(std::string_view text) {
  const std::less_equal<> not_after;
  if (text.empty()) return {};
  if (not_after(text_.data(), text.data()) && not_after(text.data() + text.size(), text_.data() + text_.size())) {
    return text;
  }
  auto* copy = static_cast<char*>(arena_->allocate(text.size(), 1));
  std::ranges::copy(text, copy);
  return {copy, text.size()};
}

void JsonTreeBuilder::PushString(Chars last_part) {
  JsonNode& node = stack_.emplace_back();
  node.kind = JsonKind::kString;
  if (parts_.empty()) {
    node.text = Keep({last_part.data(), last_part.size()});
    return;
  }
  AddPart(last_part);
  node.text = Keep(parts_);
  parts_.clear();
}

void JsonTreeBuilder::PushContainer(JsonKind kind, size_t nodes) {
  auto* children = static_cast<JsonNode*>(arena_->allocate(nodes * sizeof(JsonNode), alignof(JsonNode)));
  std::uninitialized_move(stack_.end() - static_cast<ptrdiff_t>(nodes), stack_.end(), children);
  stack_.resize(stack_.size() - nodes);
  JsonNode& node = stack_.emplace_back();
  node.kind = kind;
  node.children = {children, nodes};
}

bool JsonTreeBuilder::on_object_end(size_t size, ErrorCode&) {
  PushContainer(JsonKind::kObject, 2 * size);
  if (HasRepeatedKey(stack_.back().children)) has_repeated_key_ = true;
  return true;
}

bool JsonTreeBuilder::on_array_end(size_t size, ErrorCode&) {
  PushContainer(JsonKind::kArray, size);
  return true;
}

bool JsonTreeBuilder::on_key(Chars text, size_t, ErrorCode&) {
  PushString(text);
  return true;
}

bool JsonTreeBuilder::on_string(Chars text, size_t, ErrorCode& ec) {
  PushString(text);
  return Count(ec);
}

bool JsonTreeBuilder::Push(JsonKind kind, ErrorCode& ec) {
  stack_.emplace_back().kind = kind;
  return Count(ec);
}

bool JsonTreeBuilder::on_int64(int64_t number, Chars, ErrorCode& ec) {
  const bool counted = Push(JsonKind::kInt64, ec);
  stack_.back().int64 = number;
  return counted;
}

bool JsonTreeBuilder::on_uint64(uint64_t number, Chars, ErrorCode& ec) {
  const bool counted = Push(JsonKind::kUint64, ec);
  stack_.back().uint64 = number;
  return counted;
}

bool JsonTreeBuilder::on_double(double, Chars text, ErrorCode& ec) {
  const bool counted = Push(JsonKind::kDouble, ec);
  stack_.back().text = Keep({text.data(), text.size()});
  return counted;
}

bool JsonTreeBuilder::on_bool(bool value, ErrorCode& ec) {
  return Push(value ? JsonKind::kTrue : JsonKind::kFalse, ec);
}
bool JsonTreeBuilder::on_null(ErrorCode& ec) { return Push(JsonKind::kNull, ec); }

}  // namespace holdfast::wire
