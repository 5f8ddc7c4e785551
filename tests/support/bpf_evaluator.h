// Runs classic BPF over a seccomp_data in user space, as seccomp would, and writes it out for people. It knows the
// instructions that the kernel can follow ahead of time, to cache what a number alone decides: load a word, AND, jumps
// that compare with a constant, return a constant.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"

namespace holdfast::support {

// The action, such as SECCOMP_RET_ALLOW. An error names the instruction: one that is not known, a load that is not a
// word of the seccomp_data, or the end of the program.
Result<uint32_t> Evaluate(std::span<const sock_filter> program, const seccomp_data& call);

// "allow", "kill process", "EPERM".
std::string ActionText(uint32_t action);

// One line per instruction: "12: if A >= 0x1d go 19 else 13".
std::string Disassemble(std::span<const sock_filter> program);

}  // namespace holdfast::support
