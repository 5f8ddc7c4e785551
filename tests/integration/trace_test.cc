// Plays every conversation of tests/traces against a server of its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "support/server_process.h"
#include "support/trace.h"

namespace holdfast::support {
namespace {

const std::string kTraces = HOLDFAST_SOURCE_DIR "/tests/traces/";

std::vector<std::string> TraceNames() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kTraces)) {
    if (entry.path().extension() == ".trace") names.push_back(entry.path().stem());
  }
  std::ranges::sort(names);
  return names;
}

class TraceTest : public testing::TestWithParam<std::string> {};

TEST_P(TraceTest, IsPlayedAsWritten) {
  const std::string file_name = GetParam() + ".trace";
  const std::vector<TraceLine> trace = ReadTrace(kTraces + file_name);
  ASSERT_FALSE(trace.empty());
  const TempDir home;  // the configuration and the skills of the real one would be in some answers
  ServerProcess server =
      ServerProcess::Start({.flags = ServerFlagsOf(trace), .env = {"HOME=" + home.Path(), "CODEX_HOME="}});
  TracePlayer(server.url(), file_name).Play(trace);
}

INSTANTIATE_TEST_SUITE_P(Traces, TraceTest, testing::ValuesIn(TraceNames()),
                         [](const auto& test) { return test.param; });

std::string Verdict(std::string_view wanted, std::string_view actual) {
  std::map<std::string, std::string, std::less<>> names;
  return Matches(Message(std::string(wanted)).json(), Message(std::string(actual)).json(), names) ? "match"
                                                                                                  : "no match";
}

TEST(TraceMatchTest, AsksForTheMembersThatAreNamedAndNoMore) {
  EXPECT_EQ(Verdict(R"({"a":1})", R"({"a":1,"b":2})"), "match");
  EXPECT_EQ(Verdict(R"({"a":1,"b":2})", R"({"a":1})"), "no match");
  EXPECT_EQ(Verdict(R"({"a":{"b":true}})", R"({"a":{"b":false}})"), "no match");
  EXPECT_EQ(Verdict(R"({"a":null})", R"({"a":null})"), "match");
  EXPECT_EQ(Verdict(R"({"a":null})", R"({})"), "no match");
}

TEST(TraceMatchTest, ComparesArraysWhole) {
  EXPECT_EQ(Verdict(R"({"a":[{"b":1}]})", R"({"a":[{"b":1,"c":2}]})"), "match");
  EXPECT_EQ(Verdict(R"({"a":[]})", R"({"a":[1]})"), "no match");
  EXPECT_EQ(Verdict(R"({"a":[1,2]})", R"({"a":[2,1]})"), "no match");
}

TEST(TraceMatchTest, KnowsAnyValueNoValueAndBase64) {
  EXPECT_EQ(Verdict(R"({"a":"*"})", R"({"a":[]})"), "match");
  EXPECT_EQ(Verdict(R"({"a":"*"})", R"({})"), "no match");
  EXPECT_EQ(Verdict(R"({"a":"<absent>"})", R"({})"), "match");
  EXPECT_EQ(Verdict(R"({"a":"<absent>"})", R"({"a":null})"), "no match");
  EXPECT_EQ(Verdict(R"({"a":"<base64:hi\n>"})", R"({"a":"aGkK"})"), "match");
  EXPECT_EQ(Verdict(R"({"a":"<base64:ho\n>"})", R"({"a":"aGkK"})"), "no match");
}

}  // namespace
}  // namespace holdfast::support
