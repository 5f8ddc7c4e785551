// What a redirect makes of a request.
#pragma once

#include <cstdint>

#include "http/request.h"
#include "http/url.h"

namespace holdfast::http {

// Whether a response of this status sends the client on, given a Location.
bool IsRedirect(uint16_t status);

// Turns `request`, answered with `status` at `from`, into the one for `to`. POST becomes GET as browsers have it; what
// was meant for the first server alone does not reach another.
void ApplyRedirect(Request& request, uint16_t status, const Url& from, const Url& to);

}  // namespace holdfast::http
