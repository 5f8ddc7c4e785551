#include "skills/yaml.h"

#include <yaml.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <fmt/format.h>

namespace holdfast::skills {
namespace {

constexpr int kMaxDepth = 16;

constexpr std::array<std::string_view, 5> kNulls{"", "~", "null", "Null", "NULL"};
constexpr std::array<std::string_view, 3> kTrue{"true", "True", "TRUE"};
constexpr std::array<std::string_view, 3> kFalse{"false", "False", "FALSE"};

std::unexpected<Error> Refuse(std::string message) { return Fail(ErrorKind::kInvalidParams, std::move(message)); }

// One event of the parser, such as the start of a mapping.
class Event {
 public:
  explicit Event(yaml_parser_t& parser) : is_valid_(yaml_parser_parse(&parser, &event_) == 1) {}
  ~Event() {
    if (is_valid_) yaml_event_delete(&event_);
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  bool is_valid() const { return is_valid_; }
  yaml_event_type_t type() const { return event_.type; }
  bool is_plain() const { return event_.data.scalar.style == YAML_PLAIN_SCALAR_STYLE; }
  std::string text() const {
    const auto& scalar = event_.data.scalar;
    return {reinterpret_cast<const char*>(scalar.value), scalar.length};
  }

 private:
  yaml_event_t event_{};
  bool is_valid_;
};

}  // namespace

class YamlReader {
 public:
  explicit YamlReader(std::string_view text) {
    yaml_parser_initialize(&parser_);
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  ~YamlReader() { yaml_parser_delete(&parser_); }
  YamlReader(const YamlReader&) = delete;
  YamlReader& operator=(const YamlReader&) = delete;

  Result<Yaml> Read() {
    TRY_VOID(Expect(YAML_STREAM_START_EVENT));
    const Event start(parser_);
    if (!start.is_valid()) return Refuse(Problem());
    if (start.type() == YAML_STREAM_END_EVENT) return Yaml();
    const Event first(parser_);
    TRY(Yaml document, ReadNode(first, 0));
    TRY_VOID(Expect(YAML_DOCUMENT_END_EVENT));
    TRY_VOID(Expect(YAML_STREAM_END_EVENT));
    return document;
  }

 private:
  Result<> Expect(yaml_event_type_t type) {
    const Event event(parser_);
    if (!event.is_valid()) return Refuse(Problem());
    if (event.type() != type) return Refuse("yaml: more than one document");
    return {};
  }

  std::string Problem() const {
    const char* const problem = parser_.problem != nullptr ? parser_.problem : "cannot be parsed";
    return fmt::format("yaml: line {}: {}", parser_.problem_mark.line + 1, problem);
  }

  // Reads the node that begins with `first`. The depth keeps the recursion bounded.
  Result<Yaml> ReadNode(const Event& first, int depth) {
    if (!first.is_valid()) return Refuse(Problem());
    if (depth > kMaxDepth) return Refuse(fmt::format("yaml: more than {} levels", kMaxDepth));
    Yaml node;
    switch (first.type()) {
      case YAML_SCALAR_EVENT:
        node.text_ = first.text();
        node.is_plain_ = first.is_plain();
        node.kind_ =
            node.is_plain_ && std::ranges::count(kNulls, node.text_) > 0 ? Yaml::Kind::kNull : Yaml::Kind::kText;
        return node;
      case YAML_SEQUENCE_START_EVENT:
        node.kind_ = Yaml::Kind::kSequence;
        return ReadItems(std::move(node), YAML_SEQUENCE_END_EVENT, depth);
      case YAML_MAPPING_START_EVENT:
        node.kind_ = Yaml::Kind::kMapping;
        return ReadItems(std::move(node), YAML_MAPPING_END_EVENT, depth);
      default:
        return Refuse("yaml: aliases are not supported");
    }
  }

  Result<Yaml> ReadItems(Yaml node, yaml_event_type_t end, int depth) {
    for (;;) {
      const Event event(parser_);
      if (!event.is_valid()) return Refuse(Problem());
      if (event.type() == end) return node;
      if (!node.is_mapping()) {
        TRY(Yaml item, ReadNode(event, depth + 1));
        node.items_.push_back(std::move(item));
        continue;
      }
      if (event.type() != YAML_SCALAR_EVENT) return Refuse("yaml: a key is not a text");
      std::string key = event.text();
      if (node.Find(key) != nullptr) return Refuse(fmt::format("yaml: the key {} stands twice", key));
      const Event first(parser_);
      TRY(Yaml value, ReadNode(first, depth + 1));
      node.keys_.push_back(std::move(key));
      node.items_.push_back(std::move(value));
      if (node.keys_.size() > kMaxKeys) return Refuse(fmt::format("yaml: more than {} keys", kMaxKeys));
    }
  }

  static constexpr size_t kMaxKeys = 1000;  // the search for a key that stands twice is quadratic

  yaml_parser_t parser_{};
};

Result<Yaml> Yaml::Parse(std::string_view text) { return YamlReader(text).Read(); }

const std::string* Yaml::text() const { return kind_ == Kind::kText ? &text_ : nullptr; }

std::optional<bool> Yaml::boolean() const {
  if (kind_ != Kind::kText || !is_plain_) return std::nullopt;
  if (std::ranges::count(kTrue, text_) > 0) return true;
  if (std::ranges::count(kFalse, text_) > 0) return false;
  return std::nullopt;
}

const Yaml* Yaml::Find(std::string_view key) const {
  const auto found = std::ranges::find(keys_, key);
  return found == keys_.end() ? nullptr : &items_[static_cast<size_t>(found - keys_.begin())];
}

}  // namespace holdfast::skills
