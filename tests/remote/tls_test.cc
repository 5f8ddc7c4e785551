#include <memory>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "remote/executor.h"
#include "remote/executor_fixture.h"
#include "support/loop_runner.h"
#include "support/test_certificate.h"
#include "transport/listener.h"
#include "transport/tls_context.h"

namespace holdfast::remote {
namespace {

using support::RpcClient;
using support::ServerProcess;
using testing::HasSubstr;

// A rendezvous that speaks TLS.
class TlsTest : public ExecutorFixture {
 protected:
  void SetUp() override {
    const auto tls = transport::TlsContext::ForServer(certificate_.certificate_file(), certificate_.key_file());
    ASSERT_TRUE(tls) << tls.error().message;
    transport::Limits limits;
    limits.high_water_bytes = limits.low_water_bytes = 1;
    auto listener = transport::ListenWebSocket(
        *loop_, {.ip = "127.0.0.1"}, limits,
        {.routes = {{.path = "/", .kind = transport::HttpRoute::Kind::kWebSocket}}, .tls = *tls},
        [this](std::shared_ptr<rpc::Transport> transport) { joined_ = std::move(transport); });
    ASSERT_TRUE(listener) << listener.error().message;
    listener_ = *std::move(listener);
    registry_.SendTo(listener_->url());
  }

  support::TestCertificate certificate_;
  std::unique_ptr<loop::EventLoop> loop_ = std::make_unique<loop::EventLoop>();
  std::unique_ptr<transport::Listener> listener_;
  std::shared_ptr<rpc::Transport> joined_;
};

TEST_F(TlsTest, TrustsTheCertificatesOfTheFile) {
  const ServerProcess executor = Start({"--ca-file", certificate_.certificate_file()});
  ASSERT_TRUE(support::RunUntil(*loop_, [&] { return joined_ != nullptr; })) << executor.Stderr();
  listener_.reset();
  RpcClient client(std::make_unique<support::Channel>(std::move(loop_), std::move(joined_)));
  client.Handshake();
  client.Start(support::Shell("p", "echo encrypted"));
  EXPECT_EQ(client.WaitForClosed("p"), "encrypted\n");
}

TEST_F(TlsTest, TrustsNoOtherCertificate) {
  const ServerProcess executor = Start();
  ASSERT_TRUE(support::RunUntil(*loop_, [&] { return executor.Stderr().contains("rendezvous.pause"); }));
  EXPECT_THAT(executor.Stderr(), HasSubstr("certificate"));
  EXPECT_EQ(joined_, nullptr);
}

}  // namespace
}  // namespace holdfast::remote
