// Decode makes a struct from JSON. The struct lists its fields, and the Decoder (decoder.h) fills them in.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "wire/decoder.h"
#include "wire/json.h"

namespace holdfast::wire {

// A params struct satisfies CallableBare if its method may be called without params. The struct states that by having a
// constant kParamsOptional.
template <typename T>
concept CallableBare = requires { T::kParamsOptional; };

// `what` names the JSON in the message of an error.
template <Message T>
Result<T> Decode(Json json, std::string_view what = "params") {
  if (CallableBare<T> && json.is_null()) return T{};
  if (!json.is_object()) {
    return Fail(ErrorKind::kInvalidParams, std::string(what) + ": " + ExpectedFault("an object", json));
  }
  Decoder decoder(json);
  T message;
  message.Fields(decoder);
  decoder.Finish();
  if (decoder.fault()) return Fail(ErrorKind::kInvalidParams, *decoder.fault());
  return message;
}

}  // namespace holdfast::wire
