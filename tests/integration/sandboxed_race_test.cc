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
  std::vector<std::string> StartSome(int first, const StartRequest& like) {
    std::vector<int64_t> calls;
    std::vector<std::string> started;
    StartRequest request = like;
    for (int i = 0; i < kAtOnce; ++i) {
      request.id = std::to_string(first + i);
      calls.push_back(client_.Send("process/start", request.Params()));
    }
    for (int i = 0; i < kAtOnce; ++i) {
      const Message answer = client_.Await(calls[i]);
      if (answer.Has("result")) {
        started.push_back(std::to_string(first + i));
      } else {
        EXPECT_TRUE(answer.Has("error")) << answer;
      }
    }
    return started;
  }
};

// The command may write `place`, and `closed` is denied; now and then `place` is a link to `closed`.
TEST_F(SandboxedRaceTest, NothingIsOpenedWhereALinkLeads) {
  for (const char* name : {"place", "closed"}) fs::create_directory(Elsewhere(name));
  fs::create_directory_symlink("closed", Elsewhere("link"));
  std::ofstream(Elsewhere("closed/file")) << "secret\n";
  const std::string permissions = Managed(PlaceEntry("root", "read") + "," + PathEntry(Elsewhere("place"), "write") +
                                          "," + PathEntry(Elsewhere("closed"), "deny"));
  const std::string script = fmt::format(
      "cd {} && for i in 1 2 3 4; do for name in place closed link; do read -r line < $name/file && echo $line;"
      " echo x > $name/made; done; done 2> /dev/null; echo ran",
      elsewhere_.path());
  const Swapper swapper(Elsewhere("place"), Elsewhere("link"));
  size_t ran = 0;
  for (int first = 0; first < kStarts; first += kAtOnce) {
    const std::vector<std::string> started = StartSome(first, InSandbox(Shell("", script), permissions));
    for (const std::string& id : started) {
      const std::string output = client_.WaitForClosed(id);
      EXPECT_THAT(output, Not(HasSubstr("secret")));
      ran += output.contains("ran") ? 1 : 0;
    }
    EXPECT_FALSE(fs::exists(Elsewhere("closed/made")));
  }
  RecordProperty("ran", static_cast<int>(ran));
  EXPECT_GT(ran, 0u) << "then nothing was tried";
}

}  // namespace
}  // namespace holdfast::support
