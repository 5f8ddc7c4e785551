// The schemas of messages. A SchemaBook makes them from the field lists of the structs; FieldSchemas is the third
// walker of Fields, beside the Decoder and the Encoder, so that a description has the members that are sent, and no
// others.
//
// A schema depends on the sender. A client may leave out what is optional, and send null for a value that is not there;
// the server writes every member that has a value, and null only for one that is Nullable.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "wire/field_types.h"
#include "wire/object_schema.h"

namespace holdfast::wire {

enum class Sender { kClient, kServer };

class SchemaBook {
 public:
  // Returns the schema of a value of type T. Structs and enums get a name here, and the schema refers to it.
  template <typename T>
  std::string Of(Sender sender) {
    return Of(std::type_identity<T>(), sender);
  }

  // Returns the members of a struct that has a schema here, in their order.
  const std::vector<MemberSchema>& MembersOf(std::string_view name) const { return members_.find(name)->second; }

  const std::map<std::string, std::string, std::less<>>& named() const { return named_; }

 private:
  using Text = std::string;

  Text Of(std::type_identity<std::string>, Sender) { return R"({"type":"string"})"; }
  Text Of(std::type_identity<Bytes>, Sender) { return R"({"type":"string","contentEncoding":"base64"})"; }
  Text Of(std::type_identity<std::string_view>, Sender sender) { return Of<Bytes>(sender); }  // decoded later
  Text Of(std::type_identity<bool>, Sender) { return R"({"type":"boolean"})"; }
  Text Of(std::type_identity<uint16_t>, Sender) { return R"({"type":"integer","minimum":0,"maximum":65535})"; }
  Text Of(std::type_identity<uint64_t>, Sender) { return R"({"type":"integer","minimum":0})"; }
  Text Of(std::type_identity<int64_t>, Sender) { return R"({"type":"integer"})"; }
  Text Of(std::type_identity<Given>, Sender) { return R"({"type":"null"})"; }  // the server refuses all else
  Text Of(std::type_identity<StringMap>, Sender) {
    return R"({"type":"object","additionalProperties":{"type":"string"}})";
  }
  template <typename T>
  Text Of(std::type_identity<std::vector<T>>, Sender sender) {
    return R"({"type":"array","items":)" + Of<T>(sender) + "}";
  }
  template <typename T>
  Text Of(std::type_identity<T>, Sender sender);  // a struct or an enum

  template <typename T>
  ObjectSchema Describe(Sender sender);

  std::map<std::string, std::string, std::less<>> named_;
  std::map<std::string, std::vector<MemberSchema>, std::less<>> members_;
};

}  // namespace holdfast::wire
