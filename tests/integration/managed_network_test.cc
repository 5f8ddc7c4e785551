// Tests of managedNetwork with real proxies on the loopback.
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "integration/sandboxed_fixture.h"
#include "sandbox/proxy/proxy_fixture.h"

namespace holdfast::support {
namespace {

using sandbox::TestListener;
using testing::HasSubstr;

const std::string kServe = HOLDFAST_SANDBOXEE_DIR "/serve_inet";

// A shell function that connects to the address in a URL, sends a line and prints the answer, or fails.
const std::string kTalk =
    "talk() { at=${1#*://}; exec 3<>/dev/tcp/${at/:/\\/} || return 1; echo \"$2\" >&3; read -r answer <&3; echo "
    "\"$answer\"; }; ";

int ErrorOfConnecting(uint16_t port) {
  const OwnedFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? 0 : errno;
}

class ManagedNetworkTest : public SandboxedFixture {
 protected:
  // `variables` are further variables of the command, such as R"(,"HTTP_PROXY":"...")".
  StartRequest Asking(const std::string& id, std::vector<std::string> argv, const std::string& variables,
                      const std::string& managed_network) const {
    StartRequest request{.id = id, .argv = std::move(argv)};
    request.more = fmt::format(R"("enforceManagedNetwork":true,"managedNetwork":{},"env":{{"PATH":"/usr/bin:/bin"{}}})",
                               managed_network, variables);
    return InSandbox(request, WorkspaceWrite());
  }
  StartRequest AskingShell(const std::string& id, const std::string& script, const std::string& variables,
                           const std::string& managed_network) const {
    return Asking(id, {"/bin/bash", "-c", kTalk + script}, variables, managed_network);
  }

  // Plays the proxy: expects the greeting of the command and answers it.
  static void Converse(const TestListener& proxy) {
    TestSocket peer = proxy.Accept();
    EXPECT_EQ(peer.ReceiveSome(), "hello\n");
    EXPECT_TRUE(peer.Send("answer\n"));
  }
};

TEST_F(ManagedNetworkTest, OpensThePortsThatBothTheListAndAVariableName) {
  TestListener listed, unlisted, unnamed;
  for (TestListener* proxy : {&listed, &unlisted, &unnamed}) proxy->Listen();
  const std::string socks = fmt::format("socks5h://127.0.0.1:{}", unlisted.port());
  const std::string script = fmt::format(
      "[ $ALL_PROXY = {} ] || exit 90; talk $ALL_PROXY x && exit 91; talk x://127.0.0.1:{} x && exit 92; talk "
      "$HTTP_PROXY hello",
      socks, unnamed.port());
  client_.Start(AskingShell(
      "p", script, fmt::format(R"(,"HTTP_PROXY":"http://127.0.0.1:{}","ALL_PROXY":"{}")", listed.port(), socks),
      fmt::format(R"({{"loopbackPorts":[{},{}]}})", unnamed.port(), listed.port())));
  Converse(listed);
  EXPECT_EQ(client_.WaitForNotification("process/exited", "p").Number("params.exitCode"), 0);
  EXPECT_THAT(client_.WaitForClosed("p"), HasSubstr("answer\n"));
}

TEST_F(ManagedNetworkTest, OpensAllProxiesOfTheVariablesWithoutPorts) {
  TestListener http, socks;
  http.Listen();
  socks.Listen();
  const std::string variables = fmt::format(
      R"(,"HTTP_PROXY":"http://127.0.0.1:{}","ALL_PROXY":"socks5://127.0.0.1:{}")", http.port(), socks.port());
  for (const char* managed : {"null", "{}", R"({"loopbackPorts":[]})", R"({"later":1,"loopbackPorts":null})"}) {
    client_.Start(AskingShell(managed, "talk $HTTP_PROXY hello && talk $ALL_PROXY hello", variables, managed));
    Converse(http);
    Converse(socks);
    EXPECT_EQ(client_.WaitForNotification("process/exited", managed).Number("params.exitCode"), 0);
  }
}

TEST_F(ManagedNetworkTest, StartsNothingWhenPortsAndVariablesDoNotAgree) {
  TestListener proxy;
  const std::string variable = fmt::format(R"(,"HTTP_PROXY":"http://127.0.0.1:{}")", proxy.port());
  for (const std::string& variables : {std::string(), variable}) {
    const Message answer = Refusal(AskingShell("p", "touch made", variables, R"({"loopbackPorts":[1]})"));
    EXPECT_EQ(answer.error_code(), -32602) << answer;
    EXPECT_THAT(answer.Text("error.message"), HasSubstr("proxy"));
  }
  EXPECT_FALSE(std::filesystem::exists(In("made")));
  EXPECT_EQ(Run(Inside("p", "true")).exit_code, 0) << "the id is free";
}

TEST_F(ManagedNetworkTest, RefusesWhatItCannotEnforce) {
  const std::string sandbox = Sandbox(WorkspaceWrite());
  for (const std::string& more :
       {std::string(R"("managedNetwork":{},"enforceManagedNetwork":true)"), std::string(R"("managedNetwork":{})"),
        R"("managedNetwork":{},)" + sandbox, R"("managedNetwork":{},"enforceManagedNetwork":false,)" + sandbox,
        R"("managedNetwork":{},"networkProxy":{},"enforceManagedNetwork":true,)" + sandbox,
        R"("managedNetwork":{"loopbackPorts":[65536]},"enforceManagedNetwork":true,)" + sandbox}) {
    StartRequest request = Shell("p", "true");
    request.more = more;
    EXPECT_EQ(Refusal(request).error_code(), -32602) << more;
  }
}

TEST_F(ManagedNetworkTest, ForbidsListeningWithoutLocalBinding) {
  const std::string variable = R"(,"HTTP_PROXY":"http://127.0.0.1:9")";
  const Ended ended = Run(Asking("p", {kServe, "0"}, variable, R"({"loopbackPorts":[9],"allowLocalBinding":false})"));
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_EQ(ended.output, "EPERM\n");
}

// Outside, the same port belongs to the test, which does not listen on it.
TEST_F(ManagedNetworkTest, LetsACommandServeItselfAndNobodyOutside) {
  const TestListener reserved;
  const std::string variable = R"(,"HTTP_PROXY":"http://127.0.0.1:9")";
  for (const char* managed : {"null", "{}", R"({"allowLocalBinding":true})"}) {
    StartRequest request = Asking(managed, {kServe, std::to_string(reserved.port())}, variable, managed);
    request.pipe_stdin = true;
    client_.Start(request);
    client_.WaitForOutput(managed, "serving\n");
    EXPECT_EQ(ErrorOfConnecting(reserved.port()), ECONNREFUSED);
    client_.Call("process/closeStdin", IdParams(managed));
    EXPECT_EQ(client_.WaitForNotification("process/exited", managed).Number("params.exitCode"), 0);
  }
}

}  // namespace
}  // namespace holdfast::support
