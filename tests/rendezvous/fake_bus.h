// A bus whose other nodes are the test.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rendezvous/bus/bus.h"

namespace holdfast::rendezvous {

class FakeBus final : public Bus {
 public:
  loop::Task<Result<>> Start(Node&) override { co_return Result<>(); }
  const std::string& ticket_key() const override { return key; }
  void Publish(const ExecutorRecord& record) override { published.push_back(record); }
  void Withdraw(const std::string& id) override { withdrawn.push_back(id); }
  loop::Task<Result<std::vector<ExecutorRecord>>> Others() override {
    if (!is_connected) co_return Fail(ErrorKind::kDisconnected, "the bus is away");
    co_return others;
  }
  loop::Task<Result<std::shared_ptr<Pipe>>> Join(std::string id) override {
    ++joins;
    if (on_join) on_join();
    if (join_failure) co_return Fail(*join_failure, "the other nodes cannot be asked");
    if (!waiting_elsewhere) co_return Fail(ErrorKind::kNotFound, "no other node has " + id);
    co_return std::exchange(waiting_elsewhere, nullptr);
  }
  bool connected() const override { return is_connected; }

  std::string key = "a key of the test";
  bool is_connected = true;
  std::vector<ExecutorRecord> published, others;
  std::vector<std::string> withdrawn;
  std::shared_ptr<Pipe> waiting_elsewhere;  // a connection of another node
  int joins = 0;
  std::function<void()> on_join;          // called while the other nodes are asked; may be empty
  std::optional<ErrorKind> join_failure;  // of the next calls of Join
};

}  // namespace holdfast::rendezvous
