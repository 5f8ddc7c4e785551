#include "sandbox/jail/exec_failure.h"

#include <poll.h>

#include <csignal>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>

#include "base/record.h"
#include "base/record_reader.h"
#include "sys/io.h"
#include "sys/write_all.h"

namespace holdfast::sandbox {
namespace {

NotExecuted HadToEnd() {
  return {.status = 128 + SIGKILL,
          .error = {.kind = ErrorKind::kInvalidRequest,
                    .message = "inner stage: the command had to end before it was executed"}};
}

}  // namespace

void SendFailure(int pipe, const NotExecuted& failure) { (void)sys::WriteAll(pipe, EncodeRecord(failure)); }

std::optional<NotExecuted> AwaitFailure(int pipe, int link, const std::function<bool()>& has_to_end) {
  std::string text;
  for (;;) {
    pollfd ready[] = {{pipe, POLLIN, 0}, {link, POLLIN, 0}};
    if (::poll(ready, std::size(ready), -1) < 0) continue;  // stopped and continued from outside
    if (ready[1].revents != 0 && has_to_end()) return HadToEnd();
    if (ready[0].revents == 0) continue;
    char buffer[4096];
    const ssize_t size = sys::Read(pipe, buffer, sizeof buffer);
    if (size > 0) {
      text.append(buffer, static_cast<size_t>(size));
      continue;
    }
    auto failure = DecodeRecord<NotExecuted>(text);
    return failure ? std::optional(*std::move(failure)) : std::nullopt;
  }
}

}  // namespace holdfast::sandbox
