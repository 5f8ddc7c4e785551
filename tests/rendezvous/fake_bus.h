// A bus whose other nodes are the test.
#pragma once

#include <string>
#include <vector>

#include "rendezvous/bus/bus.h"

namespace holdfast::rendezvous {

class FakeBus final : public Bus {
 public:
  loop::Task<Result<>> Start() override { co_return Result<>(); }
  const std::string& ticket_key() const override { return key; }
  NodePlace place() const override { return own_place; }
  void Publish(const ExecutorRecord& record) override { published.push_back(record); }
  void Withdraw(const std::string& id) override { withdrawn.push_back(id); }
  loop::Task<Result<std::vector<ExecutorRecord>>> Others() override {
    if (!is_connected) co_return Fail(ErrorKind::kDisconnected, "the bus is away");
    co_return others;
  }
  loop::Task<Result<std::vector<ExecutorElsewhere>>> Find(std::string id) override {
    if (!is_connected) co_return Fail(ErrorKind::kDisconnected, "the bus is away");
    std::vector<ExecutorElsewhere> found;
    for (const ExecutorElsewhere& it : elsewhere) {
      if (it.record.id == id) found.push_back(it);
    }
    co_return found;
  }
  bool connected() const override { return is_connected; }

  std::string key = "a key of the test";
  NodePlace own_place;
  bool is_connected = true;
  std::vector<ExecutorRecord> published, others;
  std::vector<ExecutorElsewhere> elsewhere;
  std::vector<std::string> withdrawn;
};

}  // namespace holdfast::rendezvous
