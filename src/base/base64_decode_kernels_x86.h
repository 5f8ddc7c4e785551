// The decoders of base64_kernels for x86-64. The caller checks first that the CPU has the instruction set.
#pragma once

#include <cstddef>
#include <string_view>

namespace holdfast::base64_kernels {

size_t DecodeAvx512Vbmi(std::string_view text, char* out);
size_t DecodeAvx2(std::string_view text, char* out);

}  // namespace holdfast::base64_kernels
