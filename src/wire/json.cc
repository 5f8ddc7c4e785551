#include "wire/json.h"

#include <boost/json/basic_parser_impl.hpp>

#include <fmt/format.h>

#include "wire/json_limits.h"
#include "wire/json_tree.h"

namespace holdfast::wire {
namespace {

namespace json = boost::json;

json::parse_options StrictOptions() {
  json::parse_options options;
  options.max_depth = kMaxJsonDepth;
  return options;
}

}  // namespace

struct Document::Impl {
  json::basic_parser<JsonTreeBuilder> parser{StrictOptions()};
};

Document::Document() : impl_(std::make_unique<Impl>()) {}
Document::~Document() = default;

void Document::Clear() { impl_->parser.handler().Reset({}); }

Result<Json> Document::Parse(std::string_view text) {
  auto& parser = impl_->parser;
  parser.reset();
  parser.handler().Reset(text);
  json::error_code ec;
  size_t used = parser.write_some(/*more=*/false, text.data(), text.size(), ec);
  if (!ec && used < text.size()) ec = json::error::extra_data;
  if (ec) {
    if (parser.handler().too_many_values()) return Fail(ErrorKind::kInvalidRequest, "more than 262144 JSON values");
    return Fail(ErrorKind::kNotJson, fmt::format("not JSON at byte {}: {}", used, ec.message()));
  }
  if (parser.handler().has_repeated_key()) return Fail(ErrorKind::kInvalidRequest, "an object key appears twice");
  return Json(parser.handler().root());
}

bool Json::is_null() const { return node_ == nullptr || node_->kind == JsonKind::kNull; }
bool Json::is_object() const { return node_ != nullptr && node_->kind == JsonKind::kObject; }
bool Json::is_array() const { return node_ != nullptr && node_->kind == JsonKind::kArray; }

std::optional<bool> Json::boolean() const {
  if (node_ == nullptr || (node_->kind != JsonKind::kFalse && node_->kind != JsonKind::kTrue)) return std::nullopt;
  return node_->kind == JsonKind::kTrue;
}

std::optional<std::string_view> Json::string() const {
  if (node_ == nullptr || node_->kind != JsonKind::kString) return std::nullopt;
  return node_->text;
}

std::optional<int64_t> Json::int64() const {
  if (node_ == nullptr || node_->kind != JsonKind::kInt64) return std::nullopt;
  return node_->int64;
}

std::optional<uint64_t> Json::uint64() const {
  if (node_ == nullptr) return std::nullopt;
  if (node_->kind == JsonKind::kUint64) return node_->uint64;
  if (node_->kind == JsonKind::kInt64 && node_->int64 >= 0) return static_cast<uint64_t>(node_->int64);
  return std::nullopt;
}

std::string_view Json::fraction() const {
  return node_ != nullptr && node_->kind == JsonKind::kDouble ? node_->text : std::string_view();
}

size_t Json::size() const {
  if (is_array()) return node_->children.size();
  return is_object() ? node_->children.size() / 2 : 0;
}

Json Json::at(size_t index) const { return Json(&node_->children[index]); }

Json Json::Find(std::string_view key) const {
  if (!is_object()) return {};
  for (size_t i = 0; i < node_->children.size(); i += 2) {
    if (node_->children[i].text == key) return Json(&node_->children[i + 1]);
  }
  return {};
}

void Json::ForEachMember(const std::function<void(std::string_view, Json)>& visit) const {
  if (!is_object()) return;
  for (size_t i = 0; i < node_->children.size(); i += 2) visit(node_->children[i].text, Json(&node_->children[i + 1]));
}

std::string_view Json::kind() const {
  if (is_null()) return "null";
  switch (node_->kind) {
    case JsonKind::kFalse:
    case JsonKind::kTrue:
      return "a boolean";
    case JsonKind::kString:
      return "a string";
    case JsonKind::kArray:
      return "an array";
    case JsonKind::kObject:
      return "an object";
    default:
      return "a number";
  }
}

}  // namespace holdfast::wire
