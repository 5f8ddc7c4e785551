// Contents reads a whole file. An iterator over the stream would take each byte through code that is not optimized in
// tests, which is slow for the files of many megabytes that some tests make.
#pragma once

#include <string>

namespace holdfast::support {

// Returns the bytes of a file; none if the file cannot be read.
std::string Contents(const std::string& path);

}  // namespace holdfast::support
