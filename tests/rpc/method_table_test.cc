#include "rpc/method_table.h"

#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rpc/recording_sink.h"

namespace holdfast::rpc {
namespace {

using testing::ElementsAre;

struct Params {
  uint64_t number = 0;

  void Fields(auto& f) { f.Required("number", number); }
};

struct SumAdd : wire::Method<"sum/add", Params, Params> {};
struct Echo : wire::Method<"echo", Params, Params, wire::Caller::kDriverOrObserver> {};
struct Reset : wire::Method<"reset", Params, Params> {};

struct Counter {
  uint64_t sum = 0;
};

struct Target {
  void Reset(const Params& params, Reply<Params> reply) {
    counter.sum = params.number;
    reply(params);
  }

  Counter counter;
};

Counter& CounterOf(Target& target) { return target.counter; }

struct Service {
  void Add(Counter& counter, const Params& params, Reply<Params> reply) {
    counter.sum += params.number;
    reply(Params{counter.sum});
  }

  void Echo(const Params& params, Reply<Params> reply) { reply(params); }
};

class MethodTableTest : public testing::Test {
 protected:
  MethodTableTest() {
    table_.Bind<SumAdd>(CounterOf, service_, &Service::Add);
    table_.Bind<Echo>(service_, &Service::Echo);
    table_.Bind<Reset>(&Target::Reset);
  }

  auto Prepare(std::string_view method, std::string_view params) {
    return table_.Find(method)->prepare(*document_.Parse(params));
  }

  Service service_;
  MethodTable<Target> table_;
  wire::Document document_;
  std::shared_ptr<RecordingSink> sink_ = std::make_shared<RecordingSink>();
};

TEST_F(MethodTableTest, FindsWhatIsBound) {
  EXPECT_NE(table_.Find("sum/add"), nullptr);
  EXPECT_EQ(table_.Find("sum/ad"), nullptr);
  EXPECT_EQ(table_.Find(""), nullptr);
  EXPECT_THAT(table_.names(), ElementsAre("echo", "reset", "sum/add"));
}

TEST_F(MethodTableTest, DecodesFirstAndRunsLater) {
  auto call = Prepare("sum/add", R"({"number":5})");
  ASSERT_TRUE(call);
  document_.Clear();  // the call has its own copy of the params
  Target target;
  (*call)(target, PendingReply(sink_, int64_t{1}, 0));
  EXPECT_EQ(target.counter.sum, 5u);
  EXPECT_THAT(sink_->messages, ElementsAre(R"({"id":1,"result":{"number":5}})"));
}

TEST_F(MethodTableTest, CallsAHandlerThatNeedsNoTarget) {
  auto call = Prepare("echo", R"({"number":7})");
  ASSERT_TRUE(call);
  Target target;
  (*call)(target, PendingReply(sink_, int64_t{2}, 0));
  EXPECT_THAT(sink_->messages, ElementsAre(R"({"id":2,"result":{"number":7}})"));
}

TEST_F(MethodTableTest, CallsAHandlerOfTheTarget) {
  auto call = Prepare("reset", R"({"number":9})");
  ASSERT_TRUE(call);
  Target target;
  (*call)(target, PendingReply(sink_, int64_t{3}, 0));
  EXPECT_EQ(target.counter.sum, 9u);
}

TEST_F(MethodTableTest, KnowsTheCallersOfAMethod) {
  EXPECT_EQ(table_.Find("sum/add")->caller, wire::Caller::kDriver);
  EXPECT_EQ(table_.Find("echo")->caller, wire::Caller::kDriverOrObserver);
}

TEST_F(MethodTableTest, RefusesParamsThatDoNotDecode) {
  auto call = Prepare("sum/add", "{}");
  ASSERT_FALSE(call);
  EXPECT_EQ(call.error().kind, ErrorKind::kInvalidParams);
}

TEST_F(MethodTableTest, DiesOnANameThatIsBoundTwice) {
  EXPECT_DEATH(table_.Bind<Echo>(service_, &Service::Echo), "emplace");
}

}  // namespace
}  // namespace holdfast::rpc
