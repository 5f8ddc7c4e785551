#include "cli/local/remote_options.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/local/commands.h"

namespace holdfast::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string HelpOf(const std::vector<Option>& options, std::string_view flag) {
  const auto found = std::ranges::find(options, flag, &Option::flag);
  return found == options.end() ? "" : found->help;
}

TEST(RemoteOptionsTest, OfAServerThatMayAlsoListenNeedRemote) {
  for (const char* flag :
       {"--executor-id", "--environment-id", "--ca-file", "--registration-bearer-stdin", "--exit-on-stdin-close"}) {
    EXPECT_THAT(HelpOf(RemoteOptions(), flag), StartsWith("with --remote: ")) << flag;
  }
  EXPECT_THAT(HelpOf(RemoteOptions(), "--name"), StartsWith("with --executor-id: "));
}

TEST(RemoteOptionsTest, OfAForwarderDoNotNameWhatIsAlwaysThere) {
  for (const Option& option : ForwardCommand().options) EXPECT_THAT(option.help, Not(HasSubstr("with --remote")));
  EXPECT_THAT(HelpOf(ForwardCommand().options, "--ca-file"), HasSubstr("the registry, the rendezvous and the server"));
}

}  // namespace
}  // namespace holdfast::cli
