#include "rpc/peer.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loop/scope.h"
#include "rpc/fake_transport.h"
#include "support/loop_runner.h"
#include "wire/methods.h"

namespace holdfast::rpc {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A host that notes what it is told, and keeps the replies.
class NotingHost : public Peer::Host {
 public:
  bool OnRawMessage(std::string_view message) override { return message == raw; }
  void OnRequest(const Request& request, PendingReply reply) override {
    notes.emplace_back(request.method);
    replies.push_back(std::move(reply));
  }
  void OnNotification(const Notification& notification) override {
    notes.push_back("notification " + std::string(notification.method));
  }
  void OnUnreadable(const Error& error) override { notes.push_back("unreadable: " + error.message); }
  void OnStrayResponse(const Response&) override { notes.emplace_back("stray response"); }
  void OnCallForgotten(int64_t id) override { forgotten.push_back(id); }
  void OnHandled(size_t bytes) override { handled += bytes; }
  void OnCongested() override { notes.emplace_back("congested"); }
  void OnDrained() override { notes.emplace_back("drained"); }
  void OnReclaimed(size_t) override { notes.emplace_back("reclaimed"); }
  void OnClosed() override { notes.emplace_back("closed"); }

  std::string raw;
  std::vector<std::string> notes;
  std::vector<PendingReply> replies;
  std::vector<int64_t> forgotten;
  size_t handled = 0;
};

class PeerTest : public testing::Test {
 protected:
  explicit PeerTest(const PeerOptions& options = {}) { Make(options); }

  void Make(const PeerOptions& options) {
    transport_ = std::make_shared<FakeTransport>();
    peer_ = std::make_shared<Peer>(PeerContext{loop_, budget_, document_}, options, transport_, host_);
    peer_->Start();
  }

  // Notes the outcome of one call.
  loop::Task<> Read(std::string process_id, Timeout timeout = std::nullopt) {
    wire::ProcessReadParams params;
    params.process_id = process_id;
    const auto result = co_await peer_->Call<wire::ProcessRead>(params, timeout);
    outcomes_.push_back(process_id + ": " + (result ? std::to_string(result->next_seq) : result.error().message));
    if (!result) kinds_.push_back(result.error().kind);
  }

  loop::Task<> ReadText(std::string params) {
    auto result = co_await peer_->CallText("any/method", params, std::nullopt);
    outcomes_.push_back(result ? *result : result.error().message);
  }

  void AnswerRead(int id, int next_seq) {
    transport_->Deliver(fmt::format(
        R"({{"id":{},"result":{{"chunks":[],"nextSeq":{},"exited":false,"closed":false}}}})", id, next_seq));
  }

  loop::EventLoop loop_;
  loop::ByteBudget budget_{loop_, {.bytes = 1 << 20}};
  wire::Document document_;
  NotingHost host_;
  std::shared_ptr<FakeTransport> transport_;
  std::shared_ptr<Peer> peer_;
  std::vector<std::string> outcomes_;
  std::vector<ErrorKind> kinds_;
  loop::Scope scope_;
};

TEST_F(PeerTest, PassesEachKindOfMessageToItsHost) {
  host_.raw = "raw";
  for (const char* text : {"raw", R"({"id":1,"method":"a"})", R"({"method":"b"})", R"({"id":1,"result":{}})", "{"}) {
    transport_->Deliver(text);
  }
  EXPECT_THAT(host_.notes, ElementsAre("a", "notification b", "stray response", HasSubstr("unreadable: not JSON")));
}

TEST_F(PeerTest, SendsTheAnswersInTheOrderInWhichTheyAreReady) {
  transport_->Deliver(R"({"id":"x","method":"a"})");
  transport_->Deliver(R"({"id":2,"method":"b"})");
  host_.replies[1].Succeed(wire::Empty{});
  host_.replies[0].Fail({ErrorKind::kLimit, "no"});
  EXPECT_THAT(transport_->sent,
              ElementsAre(R"({"id":2,"result":{}})", R"({"error":{"code":-32600,"message":"no"},"id":"x"})"));
}

TEST_F(PeerTest, CallsAMethodAndReturnsItsResult) {
  scope_.Start(Read("p"));
  EXPECT_THAT(transport_->sent, ElementsAre(R"({"id":1,"method":"process/read","params":{"processId":"p"}})"));
  EXPECT_THAT(outcomes_, IsEmpty());
  AnswerRead(1, 7);
  EXPECT_THAT(outcomes_, ElementsAre("p: 7"));
  EXPECT_THAT(host_.notes, IsEmpty());
}

TEST_F(PeerTest, MatchesAnswersToCallsWhateverTheirOrder) {
  for (const char* id : {"a", "b", "c"}) scope_.Start(Read(id));
  AnswerRead(3, 30);
  AnswerRead(1, 10);
  AnswerRead(2, 20);
  EXPECT_THAT(outcomes_, ElementsAre("c: 30", "a: 10", "b: 20"));
}

TEST_F(PeerTest, ReturnsTheErrorOfTheOtherEnd) {
  scope_.Start(Read("p"));
  transport_->Deliver(R"({"error":{"code":-32004,"message":"no such process"},"id":1})");
  EXPECT_THAT(outcomes_, ElementsAre("p: no such process"));
  EXPECT_THAT(kinds_, ElementsAre(ErrorKind::kNotFound));
}

TEST_F(PeerTest, FailsACallWhoseAnswerMakesNoSense) {
  for (const char* id : {"a", "b"}) scope_.Start(Read(id));
  transport_->Deliver(R"({"id":1,"result":{"nextSeq":"x"}})");
  transport_->Deliver(R"({"id":2,"result":[]})");
  EXPECT_THAT(outcomes_,
              ElementsAre("a: process/read: the answer cannot be read: chunks: is missing",
                          "b: process/read: the answer cannot be read: result: expected an object, got an array"));
  EXPECT_THAT(kinds_, ElementsAre(ErrorKind::kInternal, ErrorKind::kInternal));
}

TEST_F(PeerTest, CallsByNameWithJsonAndReturnsJson) {
  scope_.Start(ReadText("{ \"a\":\n1.50 }"));
  EXPECT_THAT(transport_->sent, ElementsAre(R"({"id":1,"method":"any/method","params":{"a":1.50}})"));
  transport_->Deliver(R"({"result": {"b" : [ null ]}, "id": 1})");
  EXPECT_THAT(outcomes_, ElementsAre(R"({"b":[null]})"));
}

TEST_F(PeerTest, RefusesACallWithParamsThatAreNotJson) {
  scope_.Start(ReadText("{},\"id\":2"));
  EXPECT_THAT(outcomes_, ElementsAre(HasSubstr("params: not JSON")));
  EXPECT_THAT(transport_->sent, IsEmpty());
}

TEST_F(PeerTest, GivesUpACallThatIsNotAnsweredInTime) {
  scope_.Start(Read("p", 1ms));
  ASSERT_TRUE(support::RunUntil(loop_, [&] { return !outcomes_.empty(); }));
  EXPECT_THAT(outcomes_, ElementsAre("p: process/read: no answer within 1 ms"));
  EXPECT_THAT(kinds_, ElementsAre(ErrorKind::kTimeout));
  AnswerRead(1, 7);
  EXPECT_EQ(outcomes_.size(), 1u);
  EXPECT_THAT(host_.notes, IsEmpty());
}

TEST_F(PeerTest, ForgetsTheCallOfATaskThatIsDestroyed) {
  std::optional<loop::Scope> scope(std::in_place);
  scope->Start(Read("p"));
  scope.reset();
  AnswerRead(1, 7);
  EXPECT_THAT(outcomes_, IsEmpty());
  EXPECT_THAT(host_.notes, IsEmpty());
}

TEST_F(PeerTest, FailsEveryCallWhenTheConnectionEnds) {
  for (const char* id : {"a", "b"}) scope_.Start(Read(id));
  transport_->Disconnect();
  scope_.Start(Read("late"));
  const std::string ended = "the connection to fake has ended";
  EXPECT_THAT(outcomes_, ElementsAre("a: " + ended, "b: " + ended, "late: " + ended));
  EXPECT_THAT(kinds_, testing::Each(ErrorKind::kDisconnected));
  EXPECT_THAT(host_.notes, ElementsAre("closed"));
  EXPECT_EQ(transport_->sent.size(), 2u);
}

TEST_F(PeerTest, LetsATaskEndTheOthersWhenTheConnectionEnds) {
  std::optional<loop::Scope> others(std::in_place);
  static const auto end_others = [](auto& test, std::optional<loop::Scope>& scope) -> loop::Task<> {
    co_await test.Read("first");
    scope.reset();
  };
  scope_.Start(end_others(*this, others));
  for (const char* id : {"a", "b"}) others->Start(Read(id));
  transport_->Disconnect();
  EXPECT_EQ(outcomes_.size(), 1u);
}

TEST_F(PeerTest, LetsTheTaskThatIsAnsweredEndThePeer) {
  static const auto read_and_end = [](auto& test) -> loop::Task<> {
    co_await test.Read("p");
    test.peer_->Close();
    test.peer_.reset();
  };
  scope_.Start(read_and_end(*this));
  AnswerRead(1, 7);
  EXPECT_THAT(outcomes_, ElementsAre("p: 7"));
  EXPECT_THAT(host_.notes, ElementsAre("closed"));
}

TEST_F(PeerTest, KeepsFurtherCallsUntilEarlierOnesEnd) {
  std::optional<loop::Scope> first(std::in_place);
  first->Start(Read("forgotten"));
  for (size_t i = 1; i < PendingCalls::kMaxInFlight; ++i) scope_.Start(Read("p"));
  for (const char* id : {"late 1", "late 2"}) scope_.Start(Read(id));
  EXPECT_EQ(transport_->sent.size(), PendingCalls::kMaxInFlight);
  AnswerRead(2, 7);
  EXPECT_EQ(transport_->sent.size(), PendingCalls::kMaxInFlight + 1);
  EXPECT_THAT(transport_->sent.back(), HasSubstr("late 1"));
  first.reset();
  EXPECT_THAT(transport_->sent.back(), HasSubstr("late 2"));
}

TEST_F(PeerTest, SurvivesItsPendingCalls) {
  scope_.Start(Read("p"));
  peer_.reset();  // it was not closed, so the call waits until its scope ends
  EXPECT_THAT(outcomes_, IsEmpty());
}

TEST_F(PeerTest, SendsNotifications) {
  peer_->Notify<wire::FsMissingChanged>({7});
  peer_->Notify<wire::Initialized>({});
  EXPECT_THAT(transport_->sent, ElementsAre(R"({"method":"fs/missingChanged","params":{"watchId":7}})",
                                            R"({"method":"initialized","params":{}})"));
}

TEST_F(PeerTest, WritesTheVersionInItsDialect) {
  Make({.dialect = Dialect::kJsonRpc});
  scope_.Start(Read("p"));
  peer_->Notify<wire::Initialized>({});
  peer_->Refuse({ErrorKind::kInvalidRequest, "no"});
  transport_->Deliver(R"({"jsonrpc":"2.0","id":1,"method":"a"})");
  host_.replies.at(0).Succeed(wire::Empty{});
  EXPECT_EQ(transport_->sent.size(), 4u);
  EXPECT_THAT(transport_->sent, testing::Each(testing::StartsWith(R"({"jsonrpc":"2.0",)")));
}

TEST_F(PeerTest, StopsReadingAtItsLimits) {
  Make({.max_inflight = 2, .max_inflight_bytes = 100});
  transport_->Deliver(R"({"id":1,"method":"a"})");
  EXPECT_EQ(transport_->reading, Reading::kOn);
  transport_->Deliver(R"({"id":2,"method":"a"})");
  EXPECT_EQ(transport_->reading, Reading::kOff);
  host_.replies.clear();
  EXPECT_EQ(transport_->reading, Reading::kOn);
  transport_->Deliver(R"({"id":1,"method":")" + std::string(100, 'a') + "\"}");
  EXPECT_EQ(transport_->reading, Reading::kOff);
}

TEST_F(PeerTest, ReadsAgainWhenARequestIsWithdrawn) {
  Make({.max_inflight = 1});
  transport_->Deliver(R"({"id":1,"method":"a"})");
  EXPECT_EQ(transport_->reading, Reading::kOff);
  host_.replies[0].Withdraw();
  EXPECT_EQ(transport_->reading, Reading::kOn);
  EXPECT_THAT(transport_->sent, IsEmpty());
}

TEST_F(PeerTest, TellsTheHostOfCallsThatAreNotWaitedForAnyMore) {
  {
    loop::Scope scope;
    for (const char* id : {"a", "b"}) scope.Start(Read(id));
    AnswerRead(1, 10);
    EXPECT_THAT(host_.forgotten, IsEmpty());
  }
  EXPECT_THAT(host_.forgotten, ElementsAre(2));
  scope_.Start(Read("c", 1ms));
  EXPECT_TRUE(support::RunUntil(loop_, [&] { return outcomes_.size() == 2; }));
  EXPECT_THAT(host_.forgotten, ElementsAre(2, 3));
  scope_.Start(Read("d"));
  transport_->Disconnect();
  EXPECT_THAT(host_.forgotten, ElementsAre(2, 3));  // the other end is gone
}

TEST_F(PeerTest, ReadsACongestedTransportOnlyIfItIsToldTo) {
  for (const auto when : {WhenCongested::kStopReading, WhenCongested::kGoOnReading}) {
    Make({.when_congested = when});
    transport_->is_congested = true;
    transport_->Deliver(R"({"method":"b"})");
    EXPECT_EQ(transport_->reading, when == WhenCongested::kStopReading ? Reading::kOff : Reading::kOn);
  }
}

TEST_F(PeerTest, DoesNotReadUntilItsHostWantsTo) {
  peer_->SetReading(Reading::kOff);
  EXPECT_EQ(transport_->reading, Reading::kOff);
  transport_->Drain();
  EXPECT_EQ(transport_->reading, Reading::kOff);
  peer_->SetReading(Reading::kOn);
  EXPECT_EQ(transport_->reading, Reading::kOn);
}

TEST_F(PeerTest, CountsTheAnswersThatAreNotRead) {
  transport_->Deliver(R"({"id":1,"method":"a"})");
  transport_->is_congested = true;
  host_.replies[0].Succeed(wire::Empty{});
  EXPECT_EQ(budget_.held(), transport_->sent[0].size());
  transport_->Drain();
  EXPECT_EQ(budget_.held(), 0u);
  EXPECT_THAT(host_.notes, ElementsAre("a", "congested", "drained"));
}

TEST_F(PeerTest, CountsLongRequestsUntilTheyAreAnswered) {
  const std::string request = R"({"id":1,"method":"a","params":")" + std::string(70'000, 'x') + "\"}";
  transport_->Deliver(request);
  EXPECT_EQ(budget_.held(), request.size());
  host_.replies.clear();
  EXPECT_EQ(budget_.held(), 0u);
  EXPECT_EQ(host_.handled, request.size() + transport_->sent.at(0).size());
}

}  // namespace
}  // namespace holdfast::rpc
