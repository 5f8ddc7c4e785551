// Functions that run a classic BPF program on a seccomp_data in user space, as seccomp does, and that print it. They
// know only the instructions that the kernel can evaluate in advance, to cache what the number of a call alone decides:
// load a word, AND, jumps that compare with a constant, return a constant.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"

namespace holdfast::support {

// Returns the action, such as SECCOMP_RET_ALLOW. An error names the instruction that failed: it is not known, it loads
// something else than a word of the seccomp_data, or it lies behind the end of the program.
Result<uint32_t> Evaluate(std::span<const sock_filter> program, const seccomp_data& call);

// Returns a text such as "allow", "kill process" or "EPERM".
std::string ActionText(uint32_t action);

// Returns one line for each instruction, such as "12: if A >= 0x1d go 19 else 13".
std::string Disassemble(std::span<const sock_filter> program);

}  // namespace holdfast::support
