#include "wire/encode.h"

namespace holdfast::wire {

void Encoder::Key(std::string_view name) {
  if (!first_) out_ += ',';
  first_ = false;
  AppendString(out_, name);
  out_ += ':';
}

void Encoder::Value(StringMap& map) {
  out_ += '{';
  Encoder nested(out_);
  for (const auto& [name, value] : map) {
    nested.Key(name);
    nested.Value(value);
  }
  out_ += '}';
}

}  // namespace holdfast::wire
