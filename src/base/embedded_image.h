// A program that is a part of another one, as bytes, so that it need not be installed as a file of its own. CMake
// defines HOLDFAST_EMBEDDED_PATH, the path of the built program, for the source file that embeds it
// (cmake/Freestanding.cmake).
#pragma once

#include <cstddef>

// Embeds the program at HOLDFAST_EMBEDDED_PATH. Its bytes lie between the arrays `name`_begin and `name`_end. The macro
// stands outside of all namespaces.
#define HOLDFAST_EMBED_IMAGE(name)                     \
  asm(".section .rodata." #name                        \
      ", \"a\", @progbits\n"                           \
      ".balign 16\n" #name                             \
      "_begin:\n"                                      \
      ".incbin \"" HOLDFAST_EMBEDDED_PATH "\"\n" #name \
      "_end:\n"                                        \
      ".previous\n");                                  \
  extern "C" {                                         \
  extern const std::byte name##_begin[];               \
  extern const std::byte name##_end[];                 \
  }                                                    \
  static_assert(true)
