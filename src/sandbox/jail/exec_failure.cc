#include "sandbox/jail/exec_failure.h"

#include <poll.h>

#include <csignal>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "sys/io.h"
#include "sys/write_all.h"

namespace holdfast::sandbox {
namespace {

// The head of the text, in front of the message. Both ends are the same program.
struct Head {
  int status;
  ErrorKind kind;
};

std::optional<NotExecuted> Decode(std::string_view text) {
  Head head;
  if (text.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, text.data(), sizeof head);
  return NotExecuted{.status = head.status,
                     .error = {.kind = head.kind, .message = std::string(text.substr(sizeof head))}};
}

NotExecuted HadToEnd() {
  return {.status = 128 + SIGKILL,
          .error = {.kind = ErrorKind::kInvalidRequest,
                    .message = "inner stage: the command had to end before it was executed"}};
}

}  // namespace

void SendFailure(int pipe, const NotExecuted& failure) {
  const Head head = {.status = failure.status, .kind = failure.error.kind};
  std::string text(sizeof head, '\0');
  std::memcpy(text.data(), &head, sizeof head);
  (void)sys::WriteAll(pipe, text + failure.error.message);
}

std::optional<NotExecuted> AwaitFailure(int pipe, int link, const std::function<bool()>& has_to_end) {
  std::string text;
  for (;;) {
    pollfd ready[] = {{pipe, POLLIN, 0}, {link, POLLIN, 0}};
    if (::poll(ready, std::size(ready), -1) < 0) continue;  // stopped and continued from outside
    if (ready[1].revents != 0 && has_to_end()) return HadToEnd();
    if (ready[0].revents == 0) continue;
    char buffer[4096];
    const ssize_t size = sys::Read(pipe, buffer, sizeof buffer);
    if (size <= 0) return Decode(text);
    text.append(buffer, static_cast<size_t>(size));
  }
}

}  // namespace holdfast::sandbox
