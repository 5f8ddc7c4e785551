// Commands outside that run nothing: the test sees their orders and plays their ends.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "escalate/outside/outside_command.h"
#include "escalate/wrapper_server/options.h"

namespace holdfast::escalate {

class FakeOutside {
 public:
  struct Command final : OutsideCommand {
    Command(FakeOutside& all, OutsideOrder given, OutsideObserver& told)
        : order(std::move(given)), observer(told), all_(all) {
      all_.commands.push_back(this);
    }
    ~Command() override { std::erase(all_.commands, this); }
    void Signal(int signal) override { signals.push_back(signal); }

    OutsideOrder order;
    OutsideObserver& observer;
    std::vector<int> signals;

   private:
    FakeOutside& all_;
  };

  StartOutside starter() {
    return [this](OutsideOrder order, OutsideObserver& observer) -> Result<std::unique_ptr<OutsideCommand>> {
      if (refuses) return Fail(ErrorKind::kSystem, "refused");
      return std::make_unique<Command>(*this, std::move(order), observer);
    };
  }

  std::vector<Command*> commands;  // those that run
  bool refuses = false;
};

}  // namespace holdfast::escalate
