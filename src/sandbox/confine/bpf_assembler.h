// Writes classic BPF with labels, for programs that look at a seccomp_data. Jumps only lead forward, as the kernel
// demands; a label that is out of reach or never bound is a bug of the caller.
#pragma once

#include <linux/filter.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace holdfast::sandbox {

class BpfAssembler {
 public:
  enum class Label : size_t {};
  static constexpr Label kNext{0};  // the instruction that follows

  // What a jump asks about the accumulator and its value.
  enum class Test : uint16_t { kEqual = BPF_JEQ, kAtLeast = BPF_JGE, kAnyBit = BPF_JSET };

  Label NewLabel();
  void Bind(Label label);

  void Load(size_t offset);  // 32 bits of the seccomp_data, into the accumulator
  void And(uint32_t mask);
  void Jump(Test test, uint32_t value, Label yes, Label no);
  void JumpIfOneOf(std::initializer_list<uint32_t> values, Label yes, Label no);
  void Return(uint32_t action);

  std::vector<sock_filter> Finish();

 private:
  struct PendingJump {
    size_t at;
    Label yes, no;
  };

  uint8_t Distance(size_t at, Label label) const;

  std::vector<sock_filter> program_;
  std::vector<size_t> positions_ = {0};  // by label; kNext has none
  std::vector<PendingJump> jumps_;
};

}  // namespace holdfast::sandbox
