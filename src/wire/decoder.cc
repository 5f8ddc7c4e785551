#include "wire/decoder.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace holdfast::wire {

void Decoder::Fault(std::string_view path, std::string_view problem) {
  if (!fault_) fault_ = fmt::format("{}: {}", path, problem);
}

void Decoder::Finish() {
  constexpr size_t longest_shown = 64;
  if (!refuses_unknown_) return;
  object_.ForEachMember([this](std::string_view name, Json) {
    if (std::ranges::find(known_, name) != known_.end()) return;
    Fault(name.size() <= longest_shown ? name : "a member with a long name", "is not known");
  });
}

void Decoder::Expected(std::string_view what, Json got) {
  fault_ = fmt::format("expected {}, got {}", what, got.kind());
}

void Decoder::Prefix(std::string_view name) {
  // "tty" + "expected ..." -> "tty: expected ..."; "env" + "A: expected ..." -> "env.A: expected ...".
  bool names_a_path = fault_->find(": ") != std::string::npos;
  fault_ = fmt::format("{}{}{}", name, names_a_path ? "." : ": ", *fault_);
}

void Decoder::Value(Json json, std::string_view& value) {
  auto text = json.string();
  if (!text) return Expected("a string", json);
  value = *text;
}

void Decoder::Value(Json json, std::string& value) {
  std::string_view text;
  Value(json, text);
  value = text;
}

void Decoder::Value(Json json, bool& value) {
  auto flag = json.boolean();
  if (!flag) return Expected("a boolean", json);
  value = *flag;
}

void Decoder::Value(Json json, uint64_t& value) {
  auto number = json.uint64();
  if (!number) return Expected("a whole number that is not negative", json);
  value = *number;
}

void Decoder::Value(Json json, uint16_t& value) {
  auto number = json.uint64();
  if (!number || *number > std::numeric_limits<uint16_t>::max())
    return Expected("a whole number from 0 to 65535", json);
  value = static_cast<uint16_t>(*number);
}

void Decoder::Value(Json json, StringMap& value) {
  if (!json.is_object()) return Expected("an object", json);
  value.clear();
  value.reserve(json.size());
  json.ForEachMember([&](std::string_view name, Json member) {
    std::string text;
    Member(name, member, text);
    value.emplace_back(name, std::move(text));
  });
}

}  // namespace holdfast::wire
