// A sandboxed command with a network attacks its server by sockets that linger: the server takes them over with the
// descriptors of programs that run outside, and the command kills these at any moment.
#include <chrono>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "integration/sandboxed_fixture.h"
#include "support/lingering_peer.h"
#include "support/required_program.h"

namespace holdfast::support {
namespace {

// The argument is the port of a peer outside, so that the end of the command resets no connection.
constexpr const char* kAttack = R"(
import os, random, socket, struct, sys, time
def lingering():
  sender = socket.socket()
  sender.connect(('127.0.0.1', int(sys.argv[1])))
  sender.setblocking(False)
  try:
    while True: sender.send(bytes(65536))
  except BlockingIOError: pass
  sender.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 60))
  return sender
print('begun', flush=True)
while True:
  child = os.fork()
  if child == 0:
    sender = lingering()
    for number in range(100, 900): os.dup2(sender.fileno(), number)
    os.execv('/usr/bin/env', ['env', 'true'])
  time.sleep(random.uniform(0.005, 0.06))
  os.kill(child, 9)
  os.waitpid(child, 0)
)";

class SupervisedLingerTest : public SandboxedFixture {
 protected:
  StartRequest Supervised(StartRequest request) {
    const std::string rules = elsewhere_.Write(request.id + ".rules", R"(
prefix_rule(pattern=["/usr/bin/env"], decision="allow")
)");
    request = InSandbox(std::move(request), WorkspaceWrite("enabled"));
    request.more += fmt::format(R"(,"execPolicy":{{"rules":["{}"]}})", rules);
    return request;
  }

  void ExpectAnAnswer() {
    EXPECT_LT(TimeOf([&] { EXPECT_TRUE(client_.Call("environment/info").Has("result")); }), kPromptness);
  }

  // Another tree runs a program outside, and soon.
  void ExpectAnotherTreeWorks(const std::string& id) {
    const StartRequest request = Supervised(Shell(id, "/usr/bin/env sh -c 'exit 3'"));
    EXPECT_LT(TimeOf([&] { EXPECT_EQ(Run(request).exit_code, 3); }), 2 * kPromptness);
  }
};

TEST_F(SupervisedLingerTest, TheServerAnswersAndServesOthersDuringAnAttack) {
  if (!WantProgram("python3")) return;
  const LingeringPeer peer;
  client_.Start(Supervised({.id = "attack", .argv = {"/usr/bin/python3", "-c", kAttack, std::to_string(peer.port())}}));
  client_.WaitForOutput("attack", "begun");
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(3);
  for (int i = 0; std::chrono::steady_clock::now() < end; ++i) {
    ExpectAnAnswer();
    ExpectAnotherTreeWorks(fmt::format("other{}", i));
  }
  client_.Call("process/terminate", IdParams("attack"));
  client_.WaitForNotification("process/exited", "attack");
  ExpectAnAnswer();
  ExpectAnotherTreeWorks("last");
}

}  // namespace
}  // namespace holdfast::support
