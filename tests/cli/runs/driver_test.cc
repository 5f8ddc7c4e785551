#include "cli/runs/driver.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "client/client_fixture.h"

namespace holdfast::cli {
namespace {

class DriverTest : public client::ClientTest {
 protected:
  DriverTest() {
    server_.Answer("initialize", R"({"sessionId":"S","environmentInfo":{"shell":{"name":"sh","path":"/bin/sh"}},)"
                                 R"("sessionName":"web","role":"driver"})");
    server_.Answer("process/signal", "{}");
    server_.Answer("session/takeOver", R"({"role":"driver"})");
  }

  void MakeIt(const std::string& role) {
    server_.Send(R"({"method":"session/roleChanged","params":{"sessionId":"S","role":")" + role + R"("}})");
  }
  size_t takeovers() const { return server_.Got("session/takeOver").size(); }
};

TEST_F(DriverTest, TakesOverOnlyWhileAnotherClientDrives) {
  auto client = Connect({.session = client::SharedSession{.name = "web"}});
  Driver driver(client, Start(client));
  EXPECT_TRUE(Run(driver.Signal("SIGHUP")));
  EXPECT_EQ(takeovers(), 0U);
  MakeIt("observer");
  EXPECT_TRUE(Run(driver.Signal("SIGHUP")));
  EXPECT_TRUE(Run(driver.Signal("SIGHUP")));
  EXPECT_EQ(takeovers(), 1U);
  MakeIt("observer");
  MakeIt("driver");
  EXPECT_TRUE(Run(driver.Signal("SIGHUP")));
  EXPECT_EQ(takeovers(), 1U);
}

TEST_F(DriverTest, TriesAgainAfterATakeoverThatFailed) {
  auto client = Connect({.session = client::SharedSession{.name = "web"}});
  Driver driver(client, Start(client));
  MakeIt("observer");
  server_.Refuse("session/takeOver", -32600, "not today");
  EXPECT_FALSE(Run(driver.Signal("SIGHUP")));
  server_.Answer("session/takeOver", R"({"role":"driver"})");
  EXPECT_TRUE(Run(driver.Signal("SIGHUP")));
  EXPECT_EQ(takeovers(), 2U);
}

}  // namespace
}  // namespace holdfast::cli
