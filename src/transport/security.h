// Security says whether the bytes of a connection are encrypted.
#pragma once

namespace holdfast::transport {

enum class Security { kPlain, kTls };

}  // namespace holdfast::transport
