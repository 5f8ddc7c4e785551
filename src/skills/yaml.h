// YAML as skills use it: one document of mappings, sequences and scalars. libyaml does the parsing and stays inside
// yaml.cc. The text may come from anybody: the depth is bounded, no mapping may have a key twice, and aliases are
// refused, because a few of them can stand for a document of any size.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace holdfast::skills {

class Yaml {
 public:
  enum class Kind { kNull, kText, kSequence, kMapping };

  // A document that is empty is null.
  static Result<Yaml> Parse(std::string_view text);

  Kind kind() const { return kind_; }
  bool is_null() const { return kind_ == Kind::kNull; }
  bool is_mapping() const { return kind_ == Kind::kMapping; }

  const std::string* text() const;      // any scalar but null: a number or a boolean is the text that it was written as
  std::optional<bool> boolean() const;  // `true` or `false` without quotes
  const std::vector<Yaml>& items() const { return items_; }  // of a sequence; of a mapping, its values
  const Yaml* Find(std::string_view key) const;              // null if this is not a mapping with such a key

 private:
  friend class YamlReader;

  Kind kind_ = Kind::kNull;
  bool is_plain_ = false;  // a scalar without quotes
  std::string text_;
  std::vector<Yaml> items_;
  std::vector<std::string> keys_;  // one for each item of a mapping
};

}  // namespace holdfast::skills
