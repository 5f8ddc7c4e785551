// The bearer token that the Authorization header of a request contains.
#pragma once

#include <span>
#include <string_view>

#include "auth/refusal.h"

namespace holdfast::auth {

// Returns the token of `Bearer TOKEN`, a view of the header. The scheme may be written in any case, and there may be
// blanks around the token. `headers` are the values of all Authorization headers of one request; more than one is
// refused, because something on the way may have looked at another one than the server would.
Checked<std::string_view> BearerTokenOf(std::span<const std::string_view> headers);

}  // namespace holdfast::auth
