#include "support/bpf_evaluator.h"

#include <cstddef>
#include <cstring>

#include <fmt/format.h>

namespace holdfast::support {
namespace {

bool Holds(uint16_t code, uint32_t accumulator, uint32_t value) {
  switch (BPF_OP(code)) {
    case BPF_JEQ:
      return accumulator == value;
    case BPF_JGT:
      return accumulator > value;
    case BPF_JGE:
      return accumulator >= value;
    default:
      return (accumulator & value) != 0;  // BPF_JSET
  }
}

std::string Field(uint32_t offset) {
  if (offset == offsetof(seccomp_data, nr)) return "nr";
  if (offset == offsetof(seccomp_data, arch)) return "arch";
  const size_t first = offsetof(seccomp_data, args);
  if (offset < first) return fmt::format("byte {}", offset);
  return fmt::format("arg{} {}", (offset - first) / 8, (offset - first) % 8 == 0 ? "low" : "high");
}

std::string JumpText(size_t at, const sock_filter& line, std::string_view condition) {
  return fmt::format("if {} go {} else {}", condition, at + 1 + line.jt, at + 1 + line.jf);
}

std::string LineText(size_t at, const sock_filter& line) {
  const std::string value = fmt::format("{:#x}", line.k);
  switch (line.code) {
    case BPF_LD | BPF_W | BPF_ABS:
      return "A = " + Field(line.k);
    case BPF_ALU | BPF_AND | BPF_K:
      return "A &= " + value;
    case BPF_JMP | BPF_JEQ | BPF_K:
      return JumpText(at, line, "A == " + value);
    case BPF_JMP | BPF_JGT | BPF_K:
      return JumpText(at, line, "A > " + value);
    case BPF_JMP | BPF_JGE | BPF_K:
      return JumpText(at, line, "A >= " + value);
    case BPF_JMP | BPF_JSET | BPF_K:
      return JumpText(at, line, "A & " + value);
    case BPF_RET | BPF_K:
      return ActionText(line.k);
    default:
      return fmt::format("unknown instruction {:#x}", line.code);
  }
}

}  // namespace

Result<uint32_t> Evaluate(std::span<const sock_filter> program, const seccomp_data& call) {
  uint32_t accumulator = 0;
  for (size_t at = 0; at < program.size(); ++at) {
    const sock_filter& line = program[at];
    switch (line.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        if (line.k % 4 != 0 || line.k > sizeof(call) - 4) {
          return Fail(ErrorKind::kInvalidParams, fmt::format("evaluate {}: no word at offset {}", at, line.k));
        }
        std::memcpy(&accumulator, reinterpret_cast<const char*>(&call) + line.k, sizeof(accumulator));
        break;
      case BPF_ALU | BPF_AND | BPF_K:
        accumulator &= line.k;
        break;
      case BPF_JMP | BPF_JEQ | BPF_K:
      case BPF_JMP | BPF_JGT | BPF_K:
      case BPF_JMP | BPF_JGE | BPF_K:
      case BPF_JMP | BPF_JSET | BPF_K:
        at += Holds(line.code, accumulator, line.k) ? line.jt : line.jf;
        break;
      case BPF_RET | BPF_K:
        return line.k;
      default:
        return Fail(ErrorKind::kInvalidParams, fmt::format("evaluate {}: {}", at, LineText(at, line)));
    }
  }
  return Fail(ErrorKind::kInvalidParams, fmt::format("evaluate {}: behind the end", program.size()));
}

std::string ActionText(uint32_t action) {
  const uint32_t detail = action & SECCOMP_RET_DATA;
  switch (action & SECCOMP_RET_ACTION_FULL) {
    case SECCOMP_RET_ALLOW:
      return "allow";
    case SECCOMP_RET_KILL_PROCESS:
      return "kill process";
    case SECCOMP_RET_ERRNO: {
      const char* name = ::strerrorname_np(static_cast<int>(detail));
      return name != nullptr ? name : fmt::format("errno {}", detail);
    }
    default:
      return fmt::format("action {:#x}", action);
  }
}

std::string Disassemble(std::span<const sock_filter> program) {
  std::string text;
  for (size_t at = 0; at < program.size(); ++at) text += fmt::format("{}: {}\n", at, LineText(at, program[at]));
  return text;
}

}  // namespace holdfast::support
