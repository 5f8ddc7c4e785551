#include "wire/decoder.h"

#include <algorithm>

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

void Decoder::Prefix(std::string_view name) {
  // "tty" + "expected ..." -> "tty: expected ..."; "env" + "A: expected ..." -> "env.A: expected ...".
  bool names_a_path = fault_->find(": ") != std::string::npos;
  fault_ = fmt::format("{}{}{}", name, names_a_path ? "." : ": ", *fault_);
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
