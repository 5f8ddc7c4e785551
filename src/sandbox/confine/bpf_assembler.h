// BpfAssembler writes classic BPF programs that examine a seccomp_data. A jump names its destinations by labels. Jumps
// only lead forward, as the kernel demands. A label that is used but never bound, or that is more than 255 instructions
// away, is a bug of the caller.
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

  // The comparison of the accumulator with the value of a jump.
  enum class Test : uint16_t { kEqual = BPF_JEQ, kAtLeast = BPF_JGE, kAnyBit = BPF_JSET };

  Label NewLabel();
  void Bind(Label label);

  // Loads the 32 bits at `offset` of the seccomp_data into the accumulator.
  void Load(size_t offset);
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
  std::vector<size_t> positions_ = {0};  // indexed by label; the entry of kNext is not used
  std::vector<PendingJump> jumps_;
};

}  // namespace holdfast::sandbox
