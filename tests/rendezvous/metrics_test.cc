#include "rendezvous/metrics.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rendezvous/metrics_text.h"

namespace holdfast::rendezvous {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

TEST(MetricsTest, CountsWhatHasHappened) {
  Metrics metrics;
  metrics.CountRegistration();
  metrics.CountRefusal(Refusal::kBadToken);
  metrics.CountRefusal(Refusal::kBadToken);
  metrics.CountJoin(Metrics::Join::kLocal);
  metrics.CountJoin(Metrics::Join::kClientElsewhere);
  const std::string text = metrics.Text({.executor_connections = 3,
                                         .client_connections = 2,
                                         .executors = 1,
                                         .waiting_executors = 1,
                                         .waiting_clients = 4,
                                         .pairs = 2,
                                         .relayed_bytes = 5'000'000'000,
                                         .bus_connected = true});
  const MetricsText parsed(text);
  EXPECT_EQ(parsed.Value("holdfast_rendezvous_registrations_total"), 1);
  EXPECT_EQ(parsed.Value("holdfast_rendezvous_refusals_total{reason=\"bad_token\"}"), 2);
  EXPECT_EQ(parsed.Value("holdfast_rendezvous_refusals_total{reason=\"no_token\"}"), 0);
  EXPECT_EQ(parsed.Value("holdfast_rendezvous_joins_total{place=\"local\"}"), 1);
  EXPECT_EQ(parsed.Value("holdfast_rendezvous_joins_total{place=\"client_elsewhere\"}"), 1);
  EXPECT_EQ(parsed.Value("holdfast_rendezvous_connections{role=\"executor\"}"), 3);
  EXPECT_EQ(parsed.Value("holdfast_rendezvous_connections{role=\"client\"}"), 2);
  EXPECT_EQ(parsed.Value("holdfast_rendezvous_waiting_clients"), 4);
  EXPECT_EQ(parsed.Value("holdfast_rendezvous_pairs"), 2);
  EXPECT_EQ(parsed.Value("holdfast_rendezvous_relayed_bytes_total"), 5e9);
  EXPECT_EQ(parsed.Value("holdfast_rendezvous_bus_connected"), 1);
}

TEST(MetricsTest, TheTimesOfWaitsAreAHistogram) {
  Metrics metrics;
  metrics.CountWait(1ms);
  metrics.CountWait(2ms);
  metrics.CountWait(400ms);
  metrics.CountWait(9s);
  const MetricsText parsed(metrics.Text({}));
  const auto bucket = [&](const std::string& bound) {
    return parsed.Value("holdfast_rendezvous_wait_seconds_bucket{le=\"" + bound + "\"}");
  };
  EXPECT_EQ(bucket("0.001"), 1);
  EXPECT_EQ(bucket("0.005"), 2);
  EXPECT_EQ(bucket("0.1"), 2);
  EXPECT_EQ(bucket("0.5"), 3);
  EXPECT_EQ(bucket("5"), 3);
  EXPECT_EQ(bucket("+Inf"), 4);
  EXPECT_EQ(parsed.Value("holdfast_rendezvous_wait_seconds_count"), 4);
  EXPECT_DOUBLE_EQ(parsed.Value("holdfast_rendezvous_wait_seconds_sum"), 9.403);
}

}  // namespace
}  // namespace holdfast::rendezvous
