// JSON in, a params struct out: the structs list their fields, decoder.h walks them.
#pragma once

#include <string>

#include "base/result.h"
#include "wire/decoder.h"
#include "wire/json.h"

namespace holdfast::wire {

// Whether a method can be called without params: its struct says so.
template <typename T>
concept CallableBare = requires { T::kParamsOptional; };

template <Message T>
Result<T> Decode(Json json) {
  if (CallableBare<T> && json.is_null()) return T{};
  if (!json.is_object()) {
    return Fail(ErrorKind::kInvalidParams, "params: expected an object, got " + std::string(json.kind()));
  }
  Decoder decoder(json);
  T message;
  message.Fields(decoder);
  decoder.Finish();
  if (decoder.fault()) return Fail(ErrorKind::kInvalidParams, *decoder.fault());
  return message;
}

}  // namespace holdfast::wire
