// Whatever the inner stage of a sandbox gets as its orders, the reader survives, and accepts only bytes that the writer
// makes of the same orders.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/record.h"
#include "base/record_reader.h"
#include "sandbox/confine/confinement.h"
#include "sandbox/jail/inner_orders.h"

namespace {

template <typename Record>
void Try(std::string_view bytes) {
  const auto record = holdfast::DecodeRecord<Record>(bytes);
  CHECK(!record || holdfast::EncodeRecord(*record) == bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Try<holdfast::sandbox::InnerOrders>(bytes);
  Try<holdfast::sandbox::NotExecuted>(bytes);
  return 0;
}
