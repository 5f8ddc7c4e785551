#include "exec_server/run_exec_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::exec_server {
namespace {

using testing::HasSubstr;

// What a running server does is tested with the example that embeds one (tests/client/embedded_server_test.cc), because
// RunExecServer changes the whole process.

TEST(RunExecServerTest, RefusesAHelperThatDoesNotExist) {
  const auto ended = RunExecServer({}, InstalledIn("/nonexistent"));
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().message, "access /nonexistent/holdfast-linux-sandbox: No such file or directory");
}

TEST(RunExecServerTest, RefusesABubblewrapThatDoesNotExist) {
  RuntimePaths paths;
  paths.sandbox_helper = "/bin/true";
  paths.bubblewrap = "/nonexistent/bwrap";
  const auto ended = RunExecServer({}, paths);
  ASSERT_FALSE(ended);
  EXPECT_THAT(ended.error().message, HasSubstr("/nonexistent/bwrap"));
}

TEST(RunExecServerTest, RefusesAnUnknownLogLevel) {
  Config config;
  config.log_level = "loud";
  const auto ended = RunExecServer(config, {});
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().message, "unknown log level loud");
}

TEST(RunExecServerTest, TheDefaultUrlIsThatOfTheSettings) { EXPECT_EQ(Config().listen, kDefaultListenUrl); }

}  // namespace
}  // namespace holdfast::exec_server
