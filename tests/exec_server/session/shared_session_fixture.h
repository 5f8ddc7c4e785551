// SharedSessionFixture has clients that share the session `s`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "exec_server/server_fixture.h"

namespace holdfast::exec_server {

class SharedSessionFixture : public ServerFixture {
 protected:
  // Returns a client that is attached to the shared session. The answer to its handshake has the id 0.
  Client& Join(std::string_view more = "") {
    return ConnectReady(fmt::format(R"(,"shared":true,"sessionName":"s"{})", more));
  }
  Client& JoinAs(std::string_view role) { return Join(fmt::format(R"(,"role":"{}")", role)); }

  static std::string RoleOf(const Client& client) { return client.AnswerTo(0)->Text("result.role"); }
  static std::string SessionOf(const Client& client) { return client.AnswerTo(0)->Text("result.sessionId"); }
  static int64_t HandshakeCode(const Client& client) { return client.AnswerTo(0)->error_code(); }

  static std::string Writing(std::string_view id, std::string_view bytes) {
    return fmt::format(R"({{"processId":"{}","chunk":"{}"}})", id, support::Base64(bytes));
  }

  // Returns the notifications about processes as they were sent.
  static std::vector<std::string> Events(const Client& client) {
    std::vector<std::string> events;
    for (const std::string& text : client.sent()) {
      if (text.starts_with(R"({"method":"process/)")) events.push_back(text);
    }
    return events;
  }

  // Returns the numbers of all events of a process in the order in which the client was told them. A number that is
  // lost counts as told.
  static std::vector<int64_t> Seqs(const Client& client, std::string_view id) {
    std::vector<int64_t> seqs;
    for (const std::string& text : Events(client)) {
      const Message message(text);
      if (message.Text("params.processId") != id) continue;
      if (message.Has("params.seq")) seqs.push_back(message.Number("params.seq"));
      if (!message.Has("params.fromSeq")) continue;
      for (int64_t seq = message.Number("params.fromSeq"); seq <= message.Number("params.toSeq"); ++seq) {
        seqs.push_back(seq);
      }
    }
    return seqs;
  }

  static std::vector<int64_t> UpTo(int64_t last) {
    std::vector<int64_t> numbers;
    for (int64_t number = 1; number <= last; ++number) numbers.push_back(number);
    return numbers;
  }

  bool RunUntilClosed(const Client& client, size_t processes = 1) {
    return RunUntil([&] { return client.Notifications("process/closed").size() == processes; });
  }

  static constexpr char kObserves[] = "this connection only observes the session; session/takeOver makes it the driver";
};

}  // namespace holdfast::exec_server
