#include "mcp/stopwatch.h"

#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::mcp {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

enum class Act { kPause, kResume };

struct Step {
  milliseconds at;
  Act act;
};

struct Case {
  const char* what;
  std::vector<Step> steps;
  milliseconds now;
  milliseconds elapsed, left;  // of a limit of 1000 ms
  bool paused;
};

const Case kCases[] = {
    {"nothing has happened yet", {}, 0ms, 0ms, 1000ms, false},
    {"it runs from the start", {}, 300ms, 300ms, 700ms, false},
    {"nothing is left at the limit", {}, 1000ms, 1000ms, 0ms, false},
    {"less than nothing is never left", {}, 5000ms, 5000ms, 0ms, false},
    {"a pause stops it", {{200ms, Act::kPause}}, 900ms, 200ms, 800ms, true},
    {"a pause at the start", {{0ms, Act::kPause}}, 9000ms, 0ms, 1000ms, true},
    {"it goes on after a pause", {{200ms, Act::kPause}, {3200ms, Act::kResume}}, 3300ms, 300ms, 700ms, false},
    {"two pauses one after the other",
     {{100ms, Act::kPause}, {200ms, Act::kResume}, {300ms, Act::kPause}, {400ms, Act::kResume}},
     500ms,
     300ms,
     700ms,
     false},
    {"one of two open pauses has ended",
     {{100ms, Act::kPause}, {200ms, Act::kPause}, {300ms, Act::kResume}},
     500ms,
     100ms,
     900ms,
     true},
    {"both of two open pauses have ended",
     {{100ms, Act::kPause}, {200ms, Act::kPause}, {300ms, Act::kResume}, {400ms, Act::kResume}},
     500ms,
     200ms,
     800ms,
     false},
    {"a pause that takes no time", {{100ms, Act::kPause}, {100ms, Act::kResume}}, 200ms, 200ms, 800ms, false},
    {"a pause after the limit", {{1200ms, Act::kPause}}, 1300ms, 1200ms, 0ms, true},
};

TEST(StopwatchTest, CountsTheTimeWithoutOpenQuestions) {
  const Stopwatch::Clock::time_point start(1234s);
  for (const Case& one : kCases) {
    SCOPED_TRACE(one.what);
    Stopwatch watch(start, 1000ms);
    for (const Step& step : one.steps) {
      step.act == Act::kPause ? watch.Pause(start + step.at) : watch.Resume(start + step.at);
    }
    EXPECT_EQ(watch.Elapsed(start + one.now), one.elapsed);
    EXPECT_EQ(watch.Left(start + one.now), one.left);
    EXPECT_EQ(watch.paused(), one.paused);
  }
}

TEST(StopwatchTest, DiesOfAResumeWithoutAPause) {
  Stopwatch watch(Stopwatch::Clock::time_point(0s), 1s);
  EXPECT_DEATH(watch.Resume(Stopwatch::Clock::time_point(1s)), "pauses_");
}

}  // namespace
}  // namespace holdfast::mcp
