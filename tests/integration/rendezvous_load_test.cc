// The load program of bench/ with few pairs, as a check that the memory of a node stays small.
#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/program.h"
#include "support/server_process.h"

namespace holdfast::support {
namespace {

// Returns the value of a row in the JSON that the program prints.
double ValueOf(const std::string& report, const std::string& row) {
  const size_t at = report.find("\"" + row + "\":");
  const size_t value = report.find("\"median\":", at);
  EXPECT_NE(value, std::string::npos) << report;
  return value == std::string::npos ? 0 : std::strtod(report.c_str() + value + 9, nullptr);
}

TEST(RendezvousLoadTest, FiftyPairsThatEchoTakeLessThan200KibEach) {
  Program load({"env", ThriftySanitizer(), HOLDFAST_RENDEZVOUS_LOAD, "--pairs", "50", "--rounds", "1", "--only",
                "pairs", "--json"});
  const Outcome done = load.Finish();
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_GT(ValueOf(done.out, "echo_rate"), 0) << done.out;
  EXPECT_GT(ValueOf(done.out, "rss_pair"), 0) << done.out;
  EXPECT_LT(ValueOf(done.out, "rss_pair"), 200) << done.out;
}

}  // namespace
}  // namespace holdfast::support
