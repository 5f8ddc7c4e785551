// A RecordingSink keeps the answers that would go to a client.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "rpc/reply.h"

namespace holdfast::rpc {

struct RecordingSink : ReplySink {
  void Answer(std::string message, size_t cost) override {
    messages.push_back(std::move(message));
    costs.push_back(cost);
  }

  void Withdraw(size_t cost) override { withdrawn.push_back(cost); }

  std::vector<std::string> messages;
  std::vector<size_t> withdrawn;
  std::vector<size_t> costs;
};

}  // namespace holdfast::rpc
