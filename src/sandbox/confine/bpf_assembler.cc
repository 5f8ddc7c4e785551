#include "sandbox/confine/bpf_assembler.h"

#include <limits>
#include <utility>

#include "base/check.h"

namespace holdfast::sandbox {
namespace {

constexpr size_t kUnbound = std::numeric_limits<size_t>::max();

}  // namespace

BpfAssembler::Label BpfAssembler::NewLabel() {
  positions_.push_back(kUnbound);
  return Label{positions_.size() - 1};
}

void BpfAssembler::Bind(Label label) {
  size_t& position = positions_[std::to_underlying(label)];
  CHECK(position == kUnbound);
  position = program_.size();
}

void BpfAssembler::Load(size_t offset) {
  program_.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset)));
}

void BpfAssembler::And(uint32_t mask) { program_.push_back(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask)); }

void BpfAssembler::Jump(Test test, uint32_t value, Label yes, Label no) {
  jumps_.push_back({program_.size(), yes, no});
  const auto code = static_cast<uint16_t>(BPF_JMP | std::to_underlying(test) | BPF_K);
  program_.push_back(BPF_JUMP(code, value, 0, 0));
}

void BpfAssembler::JumpIfOneOf(std::initializer_list<uint32_t> values, Label yes, Label no) {
  const Label found = yes == kNext ? NewLabel() : yes;
  for (const uint32_t& value : values) {
    Jump(Test::kEqual, value, found, &value + 1 == values.end() ? no : kNext);
  }
  if (yes == kNext) Bind(found);
}

void BpfAssembler::Return(uint32_t action) { program_.push_back(BPF_STMT(BPF_RET | BPF_K, action)); }

std::vector<sock_filter> BpfAssembler::Finish() {
  for (const PendingJump& jump : jumps_) {
    program_[jump.at].jt = Distance(jump.at, jump.yes);
    program_[jump.at].jf = Distance(jump.at, jump.no);
  }
  jumps_.clear();
  return std::move(program_);
}

uint8_t BpfAssembler::Distance(size_t at, Label label) const {
  if (label == kNext) return 0;
  const size_t position = positions_[std::to_underlying(label)];
  CHECK(position != kUnbound && position > at);
  const size_t distance = position - at - 1;
  CHECK(distance <= std::numeric_limits<uint8_t>::max());
  return static_cast<uint8_t>(distance);
}

}  // namespace holdfast::sandbox
