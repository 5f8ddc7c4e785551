// These functions recognise a redirect and change a request by it.
#pragma once

#include <cstdint>

#include "http/request.h"
#include "http/url.h"

namespace holdfast::http {

// Returns whether a response with this status is a redirect if it has a Location.
bool IsRedirect(uint16_t status);

// Changes `request`, which was answered with `status` at `from`, into the request for `to`. POST becomes GET as in
// browsers. Headers that were meant for the first server alone are removed if `to` is another origin.
void ApplyRedirect(Request& request, uint16_t status, const Url& from, const Url& to);

}  // namespace holdfast::http
