#include "rpc/reply.h"

#include <memory>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rpc/recording_sink.h"

namespace holdfast::rpc {
namespace {

using testing::ElementsAre;

struct Sum {
  int64_t total = 0;

  void Fields(auto& f) { f.Required("total", total); }
};

class ReplyTest : public testing::Test {
 protected:
  Reply<Sum> Make(size_t cost = 0) { return Reply<Sum>(PendingReply(sink_, int64_t{4}, cost)); }

  std::shared_ptr<RecordingSink> sink_ = std::make_shared<RecordingSink>();
};

constexpr char kDropped[] = R"({"error":{"code":-32603,"message":"the request was dropped"},"id":4})";

TEST_F(ReplyTest, AnswersWithTheResult) {
  Make(17)(Sum{5});
  EXPECT_THAT(sink_->messages, ElementsAre(R"({"id":4,"result":{"total":5}})"));
  EXPECT_THAT(sink_->costs, ElementsAre(17));
}

TEST_F(ReplyTest, AnswersWithTheError) {
  Make().Fail({ErrorKind::kInvalidParams, "bad"});
  EXPECT_THAT(sink_->messages, ElementsAre(R"({"error":{"code":-32602,"message":"bad"},"id":4})"));
}

TEST_F(ReplyTest, AnswersAnErrorWhenItIsDropped) {
  {
    Reply<Sum> dropped = Make(3);
  }
  EXPECT_THAT(sink_->messages, ElementsAre(kDropped));
  EXPECT_THAT(sink_->costs, ElementsAre(3));
}

TEST_F(ReplyTest, AnswersOnceHoweverOftenItMoves) {
  {
    Reply<Sum> first = Make();
    Reply<Sum> second = std::move(first);
    second(Sum{2});
  }
  EXPECT_THAT(sink_->messages, ElementsAre(R"({"id":4,"result":{"total":2}})"));
}

TEST_F(ReplyTest, AnswersNothingOnceItIsWithdrawn) {
  {
    Reply<Sum> reply = Make(9);
    EXPECT_EQ(reply.id(), RequestId(int64_t{4}));
    reply.Withdraw();
  }
  EXPECT_THAT(sink_->messages, testing::IsEmpty());
  EXPECT_THAT(sink_->withdrawn, ElementsAre(9));
}

TEST_F(ReplyTest, SaysNothingWhenTheConnectionIsGone) {
  std::optional<Reply<Sum>> reply(Make());
  const std::weak_ptr<RecordingSink> gone = sink_;
  sink_.reset();
  (*reply)(Sum{1});
  EXPECT_TRUE(gone.expired());
}

TEST_F(ReplyTest, DiesOnASecondAnswer) {
  Reply<Sum> reply = Make();
  reply(Sum{1});
  EXPECT_DEATH(reply(Sum{2}), "pending_");
}

}  // namespace
}  // namespace holdfast::rpc
