// The entry point of a program without libc. The kernel enters a program with argc at the top of the stack, and the
// arguments and the environment behind it.
#pragma once

// Makes the kernel enter at `function`, an extern "C" function that does not return. Its one parameter is a pointer to
// argc. The macro stands outside of all namespaces.
#define HOLDFAST_ENTRY(function) \
  asm(".globl _start\n"          \
      "_start:\n\t"              \
      "xor %ebp, %ebp\n\t"       \
      "mov %rsp, %rdi\n\t"       \
      "and $-16, %rsp\n\t"       \
      "call " #function "\n")
