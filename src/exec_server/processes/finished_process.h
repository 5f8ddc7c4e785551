// The facts about a finished process that observers still get after it was forgotten.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "wire/notification.h"

namespace holdfast::exec_server {

struct FinishedProcess {
  std::string id;
  std::optional<pid_t> pid;
  std::optional<wire::Exit> exit;
  uint64_t next_seq = 1;
  std::optional<uint64_t> close_seq;
};

}  // namespace holdfast::exec_server
