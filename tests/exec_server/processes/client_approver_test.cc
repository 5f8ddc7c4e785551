#include "exec_server/processes/client_approver.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loop/scope.h"
#include "rpc/fake_transport.h"
#include "rpc/peer.h"
#include "support/loop_runner.h"

namespace holdfast::exec_server {
namespace {

using namespace std::chrono_literals;
using exec_policy::Action;
using testing::HasSubstr;
using testing::IsEmpty;

class SilentHost : public rpc::PeerHost {
 public:
  void OnRequest(const rpc::Request&, rpc::PendingReply) override {}
  void OnNotification(const rpc::Notification&) override {}
  void OnUnreadable(const Error&) override {}
  void OnClosed() override {}
};

// The driver of a session, at the end of a transport without a socket.
class ClientApproverTest : public testing::Test {
 protected:
  ClientApproverTest()
      : peer_(std::make_shared<rpc::Peer>(rpc::PeerContext{loop_, budget_, document_}, rpc::PeerOptions{}, transport_,
                                          host_)),
        link_(*transport_, ClientTraits{}) {
    peer_->Start();
    link_.SetPeer(peer_);
  }
  ~ClientApproverTest() override { transport_->Disconnect(); }

  void Ask(std::vector<std::string> argv = {"git", "push"}) {
    scope_.Start(Note({.file = "/usr/bin/git", .argv = std::move(argv), .cwd = "/w"}));
  }
  bool RunUntilAsked(std::chrono::milliseconds patience = support::kPatience) {
    return support::RunUntil(loop_, [&] { return !transport_->sent.empty(); }, patience);
  }
  bool RunUntilAnswered() {
    return support::RunUntil(loop_, [&] { return answer_.has_value(); });
  }

  loop::EventLoop loop_;
  loop::ByteBudget budget_{loop_, {.bytes = 1 << 20}};
  wire::Document document_;
  SilentHost host_;
  std::shared_ptr<rpc::FakeTransport> transport_ = std::make_shared<rpc::FakeTransport>();
  std::shared_ptr<rpc::Peer> peer_;
  ClientLink link_;
  loop::Event driver_changed_;
  ClientApprover approver_{loop_, {link_, driver_changed_}, "p", 10s};
  std::optional<escalate::Answer> answer_;
  loop::Scope scope_;

 private:
  loop::Task<> Note(escalate::Question question) { answer_ = co_await approver_.Ask(std::move(question)); }
};

TEST_F(ClientApproverTest, AsksTheDriver) {
  Ask();
  ASSERT_TRUE(RunUntilAsked());
  EXPECT_THAT(transport_->sent[0], HasSubstr(R"("method":"exec/approve")"));
  transport_->Deliver(R"({"id":1,"result":{"decision":"escalate"}})");
  ASSERT_TRUE(RunUntilAnswered());
  EXPECT_EQ(answer_->action, Action::kEscalate);
}

// A command can ask as often as it likes, and its questions would fill the memory of the server.
TEST_F(ClientApproverTest, AsksNothingBeforeTheClientHasReadTheRest) {
  transport_->is_congested = true;
  Ask();
  EXPECT_FALSE(RunUntilAsked(200ms));
  transport_->Drain();
  EXPECT_TRUE(RunUntilAsked());
}

TEST_F(ClientApproverTest, DeniesWhatNoPersonCanJudge) {
  Ask(std::vector<std::string>(100'000, "x"));
  ASSERT_TRUE(RunUntilAnswered());
  EXPECT_EQ(answer_->action, Action::kDeny);
  EXPECT_EQ(answer_->reason, "The command is too long for a question to the client");
  EXPECT_THAT(transport_->sent, IsEmpty());
}

}  // namespace
}  // namespace holdfast::exec_server
