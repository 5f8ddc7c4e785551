#include "wire/json.h"

#include <array>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/value.hpp>
#include <boost/json/value_stack.hpp>
#include <limits>

#include <fmt/format.h>

namespace holdfast::wire {
namespace json = boost::json;
namespace {

// Builds the tree and counts. A repeated key is replaced silently by value_stack, so the keys seen are compared with
// the keys that made it into the tree.
struct TreeBuilder {
  static constexpr size_t max_object_size = Document::kMaxValues;
  static constexpr size_t max_array_size = Document::kMaxValues;
  static constexpr size_t max_key_size = std::numeric_limits<int32_t>::max();
  static constexpr size_t max_string_size = std::numeric_limits<int32_t>::max();

  json::value_stack stack;
  size_t values = 0;
  size_t keys = 0;

  bool Count(json::error_code& ec) {
    if (++values <= Document::kMaxValues) return true;
    ec = json::error::array_too_large;
    return false;
  }

  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }
  bool on_object_begin(json::error_code& ec) { return Count(ec); }
  bool on_object_end(size_t size, json::error_code&) {
    stack.push_object(size);
    return true;
  }
  bool on_array_begin(json::error_code& ec) { return Count(ec); }
  bool on_array_end(size_t size, json::error_code&) {
    stack.push_array(size);
    return true;
  }
  bool on_key_part(json::string_view text, size_t, json::error_code&) {
    stack.push_chars(text);
    return true;
  }
  bool on_key(json::string_view text, size_t, json::error_code&) {
    ++keys;
    stack.push_key(text);
    return true;
  }
  bool on_string_part(json::string_view text, size_t, json::error_code&) {
    stack.push_chars(text);
    return true;
  }
  bool on_string(json::string_view text, size_t, json::error_code& ec) {
    stack.push_string(text);
    return Count(ec);
  }
  bool on_number_part(json::string_view, json::error_code&) { return true; }
  bool on_int64(int64_t number, json::string_view, json::error_code& ec) {
    stack.push_int64(number);
    return Count(ec);
  }
  bool on_uint64(uint64_t number, json::string_view, json::error_code& ec) {
    stack.push_uint64(number);
    return Count(ec);
  }
  bool on_double(double number, json::string_view, json::error_code& ec) {
    stack.push_double(number);
    return Count(ec);
  }
  bool on_bool(bool value, json::error_code& ec) {
    stack.push_bool(value);
    return Count(ec);
  }
  bool on_null(json::error_code& ec) {
    stack.push_null();
    return Count(ec);
  }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }
};

size_t KeysInTree(const json::value& value) {
  size_t keys = 0;
  if (const auto* object = value.if_object()) {
    keys += object->size();
    for (const auto& member : *object) keys += KeysInTree(member.value());
  } else if (const auto* array = value.if_array()) {
    for (const auto& element : *array) keys += KeysInTree(element);
  }
  return keys;
}

json::parse_options StrictOptions() {
  json::parse_options options;
  options.max_depth = Document::kMaxDepth;
  return options;
}

}  // namespace

struct Document::Impl {
  // Small messages are parsed without touching the heap.
  std::array<unsigned char, 16 * 1024> buffer;
  std::optional<json::monotonic_resource> memory{std::in_place, buffer.data(), buffer.size()};
  json::basic_parser<TreeBuilder> parser{StrictOptions()};
  std::optional<json::value> root;
};

Document::Document() : impl_(std::make_unique<Impl>()) {}
Document::~Document() { Clear(); }

void Document::Clear() {
  impl_->root.reset();
  impl_->parser.handler().stack.reset();
  // Not release(): that frees the blocks, but the next one would still be twice as large as the last.
  impl_->memory.emplace(impl_->buffer.data(), impl_->buffer.size());
}

Result<Json> Document::Parse(std::string_view text) {
  Clear();
  auto& parser = impl_->parser;
  auto& builder = parser.handler();
  parser.reset();
  builder.values = builder.keys = 0;
  builder.stack.reset(json::storage_ptr(&*impl_->memory));
  json::error_code ec;
  size_t used = parser.write_some(/*more=*/false, text.data(), text.size(), ec);
  if (!ec && used < text.size()) ec = json::error::extra_data;
  if (ec) {
    if (builder.values > kMaxValues) return Fail(ErrorKind::kInvalidRequest, "more than 262144 JSON values");
    return Fail(ErrorKind::kInvalidRequest, fmt::format("not JSON at byte {}: {}", used, ec.message()));
  }
  impl_->root.emplace(builder.stack.release());
  if (KeysInTree(*impl_->root) != builder.keys) return Fail(ErrorKind::kInvalidRequest, "an object key appears twice");
  return Json(&*impl_->root);
}

bool Json::is_null() const { return value_ == nullptr || value_->is_null(); }
bool Json::is_object() const { return value_ != nullptr && value_->is_object(); }
bool Json::is_array() const { return value_ != nullptr && value_->is_array(); }

std::optional<bool> Json::boolean() const {
  if (value_ == nullptr || !value_->is_bool()) return std::nullopt;
  return value_->get_bool();
}

std::optional<std::string_view> Json::string() const {
  if (value_ == nullptr || !value_->is_string()) return std::nullopt;
  const json::string& text = value_->get_string();
  return std::string_view(text.data(), text.size());
}

std::optional<int64_t> Json::int64() const {
  if (value_ == nullptr || !value_->is_int64()) return std::nullopt;
  return value_->get_int64();
}

std::optional<uint64_t> Json::uint64() const {
  if (value_ == nullptr) return std::nullopt;
  if (value_->is_uint64()) return value_->get_uint64();
  if (value_->is_int64() && value_->get_int64() >= 0) return static_cast<uint64_t>(value_->get_int64());
  return std::nullopt;
}

size_t Json::size() const {
  if (is_array()) return value_->get_array().size();
  return is_object() ? value_->get_object().size() : 0;
}

Json Json::at(size_t index) const { return Json(&value_->get_array()[index]); }

Json Json::Find(std::string_view key) const {
  if (!is_object()) return {};
  return Json(value_->get_object().if_contains(json::string_view(key.data(), key.size())));
}

void Json::ForEachMember(const std::function<void(std::string_view, Json)>& visit) const {
  if (!is_object()) return;
  for (const auto& member : value_->get_object()) {
    json::string_view key = member.key();
    visit(std::string_view(key.data(), key.size()), Json(&member.value()));
  }
}

std::string_view Json::kind() const {
  if (is_null()) return "null";
  if (value_->is_bool()) return "a boolean";
  if (value_->is_string()) return "a string";
  if (value_->is_array()) return "an array";
  return value_->is_object() ? "an object" : "a number";
}

}  // namespace holdfast::wire
