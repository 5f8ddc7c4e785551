// Every installed header includes this one before any other. It says why a compiler cannot be used, before an error
// deep inside of another header does. The CMake packages compile it, and say the same.
#pragma once

#if !defined(__clang__)
#error "holdfast needs clang 19 or later: GCC 12 miscompiles coroutines in the headers, and no other compiler was tried"
#elif __clang_major__ < 19
#error "holdfast needs clang 19 or later: an older one has no std::expected with libstdc++"
#elif __cplusplus < 202302L
#error "holdfast needs C++23: compile with -std=c++23"
#else
#include <version>
#if !defined(__GLIBCXX__)
#error "holdfast is built with libstdc++, and cannot be used with another C++ library: compile with -stdlib=libstdc++"
#elif !defined(__cpp_lib_expected)
#error "holdfast needs std::expected, which libstdc++ has from GCC 12 on: install libstdc++-12-dev or later"
#endif
#endif
