// Tests with names that change while a server starts sandboxed commands: another process of the user swaps a directory
// and a link as fast as it can. Whatever a command then does, it writes nothing outside and reads nothing that is
// denied.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "integration/sandboxed_fixture.h"
#include "support/swapper.h"

namespace holdfast::support {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr int kStarts = 1000, kAtOnce = 20;

class SandboxedRaceTest : public SandboxedFixture {
 protected:
  // Starts some commands at once. Returns the ids of those that were started.
  static std::vector<std::string> StartSome(RpcClient& client, const StartRequest& like) {
    std::vector<int64_t> calls;
    std::vector<std::string> started;
    StartRequest request = like;
    for (int i = 0; i < kAtOnce; ++i) {
      request.id = std::to_string(i);
      calls.push_back(client.Send("process/start", request.Params()));
    }
    for (int i = 0; i < kAtOnce; ++i) {
      const Message answer = client.Await(calls[i]);
      if (answer.Has("result")) {
        started.push_back(std::to_string(i));
      } else {
        EXPECT_TRUE(answer.Has("error")) << answer;
      }
    }
    return started;
  }
};

// The command may write `place`, and `closed` is denied; now and then `place` is a link to `closed`. Each client has a
// session, and so a launcher, of its own: a launcher that has another plan than the server is not tried again soon.
TEST_F(SandboxedRaceTest, NothingIsOpenedWhereALinkLeads) {
  for (const char* name : {"place", "closed"}) fs::create_directory(Elsewhere(name));
  fs::create_directory_symlink("closed", Elsewhere("link"));
  std::ofstream(Elsewhere("closed/file")) << "secret\n";
  const std::string permissions = Managed(PlaceEntry("root", "read") + "," + PathEntry(Elsewhere("place"), "write") +
                                          "," + PathEntry(Elsewhere("closed"), "deny"));
  const std::string script = fmt::format(
      "cd {} && for i in 1 2 3 4; do for name in place closed link; do read -r line < $name/file && echo $line;"
      " echo x > $name/made && echo wrote; done; done 2> /dev/null",
      elsewhere_.path());
  const Swapper swapper(Elsewhere("place"), Elsewhere("link"));
  int writers = 0;
  for (int starts = 0; starts < kStarts; starts += kAtOnce) {
    RpcClient client = RpcClient::Ready(server_.url());
    for (const std::string& id : StartSome(client, InSandbox(Shell("", script), permissions))) {
      const std::string output = client.WaitForClosed(id);
      EXPECT_THAT(output, Not(HasSubstr("secret")));
      writers += output.contains("wrote") ? 1 : 0;
    }
    EXPECT_FALSE(fs::exists(Elsewhere("closed/made")));
  }
  RecordProperty("writers", writers);
  EXPECT_GT(writers, 0) << "no command has come to the place that it may write";
}

}  // namespace
}  // namespace holdfast::support
