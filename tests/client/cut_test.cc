// One conversation, cut behind each message that the server sends, with a model of a server that keeps the events of
// its processes. Whatever is cut, the caller gets the same events.
#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/client_fixture.h"
#include "support/message.h"

namespace holdfast::client {
namespace {

using support::Message;

struct ModelEvent {
  char kind;  // o(utput), x for the exit, c(losed)
  int seq;
};

// The whole life of the process p: output before and after its exit.
const std::vector<ModelEvent> kLife{{'o', 1}, {'o', 2}, {'o', 3}, {'x', 4}, {'o', 5}, {'c', 6}};
const std::vector<std::string> kExpected{"1", "2", "3", "exit 3", "5", "closed"};

enum class Arrival { kInOrder, kSwapped, kTwice };

class CutTest : public ClientTest, public testing::WithParamInterface<Arrival> {
 protected:
  // The server has had `happened` events, of which it retains the output.
  void AnswerReads() {
    server_.Handle("process/read", [this](const Message& request) {
      const auto after = request.Number("params.afterSeq");
      std::string chunks;
      bool exited = false, closed = false;
      for (int i = 0; i < happened_; ++i) {
        const ModelEvent& event = kLife[i];
        exited |= event.kind == 'x';
        closed |= event.kind == 'c';
        if (event.kind != 'o' || event.seq <= after) continue;
        chunks += fmt::format(R"({}{{"seq":{},"stream":"stdout","chunk":"{}"}})", chunks.empty() ? "" : ",", event.seq,
                              support::Base64(std::to_string(event.seq)));
      }
      return fmt::format(
          R"("result":{{"chunks":[{}],"nextSeq":{},"exited":{},"exitCode":{},"closed":{},"failure":null}})", chunks,
          happened_ + 1, exited, exited ? "3" : "null", closed);
    });
  }
  void Push(const ModelEvent& event) {
    if (event.kind == 'o') server_.SendOutput("p", event.seq, std::to_string(event.seq));
    if (event.kind == 'x') server_.SendExited("p", event.seq, 3);
    if (event.kind == 'c') server_.SendClosed("p", event.seq);
  }
  // The events from `from` up to `to`, as they arrive.
  std::vector<ModelEvent> Arriving(int from, int to) {
    std::vector<ModelEvent> events(kLife.begin() + from, kLife.begin() + to);
    if (GetParam() == Arrival::kSwapped) {
      for (size_t i = 0; i + 1 < events.size(); i += 2) std::swap(events[i], events[i + 1]);
    }
    if (GetParam() == Arrival::kTwice) events.insert(events.end(), kLife.begin() + from, kLife.begin() + to);
    return events;
  }
  void Recover() {
    const size_t before = server_.Got("initialized").size();
    server_.Cut();
    ASSERT_TRUE(RunUntil([&] { return server_.Got("initialized").size() > before; }));
    RunReady();
  }

  int happened_ = 0;
};

// The connection is cut when `first` events have arrived, and again at `second`; meanwhile `missed` events happen
// unseen.
TEST_P(CutTest, TheCallerGetsTheSameEventsWhereverTheConnectionIsCut) {
  const int all = static_cast<int>(kLife.size());
  for (int first = 0; first <= all; ++first) {
    for (int missed = 0; first + missed <= all; ++missed) {
      for (int second = first + missed; second <= all; ++second) {
        auto client = Connect();
        AnswerReads();
        const auto process = Start(client);
        for (const auto& event : Arriving(0, first)) Push(event);
        happened_ = first + missed;
        Recover();
        for (const auto& event : Arriving(first + missed, second)) Push(event);
        happened_ = all;
        Recover();
        EXPECT_EQ(TakeAll(*process), kExpected) << first << " arrive, " << missed << " are missed, cut at " << second;
        if (HasFailure()) return;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Arrivals, CutTest, testing::Values(Arrival::kInOrder, Arrival::kSwapped, Arrival::kTwice));

}  // namespace
}  // namespace holdfast::client
