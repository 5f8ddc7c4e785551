// The types of fields beyond strings, numbers and booleans, and the struct without fields.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::wire {

// A JSON object whose values are all strings. The members keep the order that they have in the message.
using StringMap = std::vector<std::pair<std::string, std::string>>;

struct Empty {
  void Fields(auto&) {}
};

// A member whose content does not matter: `given` tells whether the member is there and is not null.
struct Given {
  bool given = false;
};

// Bytes that travel as base64. An object that is made for an encoder is a view, so that nothing is copied, and the
// owner of the bytes keeps them until they are encoded. An object that a decoder has filled owns its bytes.
class Bytes {
 public:
  Bytes() = default;
  Bytes(std::string_view view) : view_(view) {}  // NOLINT(google-explicit-constructor)

  static Bytes Owned(std::string bytes) {
    Bytes owner;
    owner.owned_ = std::move(bytes);
    return owner;
  }

  std::string_view view() const { return owned_.empty() ? view_ : std::string_view(owned_); }

  // Returns the bytes as a string, without a copy if this object owns them.
  std::string Take() && { return owned_.empty() ? std::string(view_) : std::move(owned_); }

 private:
  std::string_view view_;
  std::string owned_;
};

// A walker of Fields that describes a struct, and neither reads nor writes one, has a true kDescribes (schema.h). A
// struct whose members depend on each other in a way of its own has Fields for it.
template <typename F>
concept Describer = F::kDescribes;

// JSON that is passed on as it is.
struct RawJson {
  std::string text;
};

// The names by which the values of an enum are sent. A specialisation stands beside each such enum and has an array
// kNames of {name, value}.
template <typename T>
struct EnumNames;

template <typename T>
concept NamedEnum = requires { EnumNames<T>::kNames; };

}  // namespace holdfast::wire
