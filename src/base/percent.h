// PercentDecoded replaces the percent escapes of URLs. A percent sign without two hexadecimal digits stays as it is.
#pragma once

#include <string>
#include <string_view>

namespace holdfast {

std::string PercentDecoded(std::string_view text);

}  // namespace holdfast
