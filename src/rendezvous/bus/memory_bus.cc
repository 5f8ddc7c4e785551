#include "rendezvous/bus/memory_bus.h"

#include "base/random_id.h"

namespace holdfast::rendezvous {
namespace {

class MemoryBus final : public Bus {
 public:
  loop::Task<Result<>> Start() override { co_return Result<>(); }
  const std::string& ticket_key() const override { return ticket_key_; }
  NodePlace place() const override { return {}; }
  void Publish(const ExecutorRecord&) override {}
  void Withdraw(const std::string&) override {}
  loop::Task<Result<std::vector<ExecutorRecord>>> Others() override { co_return std::vector<ExecutorRecord>(); }
  loop::Task<Result<std::vector<ExecutorElsewhere>>> Find(std::string) override {
    co_return std::vector<ExecutorElsewhere>();
  }
  bool connected() const override { return true; }

 private:
  const std::string ticket_key_ = RandomSecret();
};

}  // namespace

std::unique_ptr<Bus> MakeMemoryBus() { return std::make_unique<MemoryBus>(); }

}  // namespace holdfast::rendezvous
