#include "rendezvous/route.h"

#include <string>

#include <gtest/gtest.h>

namespace holdfast::rendezvous {
namespace {

std::expected<Destination, Refusal> Destined(std::string method, std::string path) {
  return DestinationOf({.method = std::move(method), .path = std::move(path), .query = {}, .headers = {}, .body = {}});
}

TEST(RouteTest, EachPathHasItsRoute) {
  EXPECT_EQ(Destined("POST", "/cloud/executor/e-1/register"), (Destination{Route::kRegisterExecutor, "e-1"}));
  EXPECT_EQ(Destined("POST", "/cloud/environment/e-1/direct/register"),
            (Destination{Route::kRegisterEnvironment, "e-1"}));
  EXPECT_EQ(Destined("GET", "/rendezvous/e-1"), (Destination{Route::kExecutor, "e-1"}));
  EXPECT_EQ(Destined("GET", "/executors/e-1"), (Destination{Route::kClient, "e-1"}));
  EXPECT_EQ(Destined("GET", "/executors"), (Destination{Route::kList}));
  EXPECT_EQ(Destined("HEAD", "/readyz"), (Destination{Route::kReady}));
  EXPECT_EQ(Destined("GET", "/metrics"), (Destination{Route::kMetrics}));
}

TEST(RouteTest, OtherPathsAndMethodsAreRefused) {
  for (const char* path : {"/", "/executor", "/executors/", "/cloud/executor/register", "/cloud/executor//register",
                           "/readyz/", "/cloud/environment/e-1/register", ""}) {
    EXPECT_EQ(Destined("GET", path), std::unexpected(Refusal::kUnknownPath)) << path;
  }
  EXPECT_EQ(Destined("GET", "/cloud/executor/e-1/register"), std::unexpected(Refusal::kBadMethod));
  EXPECT_EQ(Destined("POST", "/executors"), std::unexpected(Refusal::kBadMethod));
  EXPECT_EQ(Destined("HEAD", "/cloud/executor/e-1/register"), std::unexpected(Refusal::kBadMethod));
}

TEST(RouteTest, AnIdIsPercentDecodedAndChecked) {
  EXPECT_EQ(Destined("GET", "/executors/b%C3%BCro%207"), (Destination{Route::kClient, "büro 7"}));
  for (const char* id : {"a%2Fb", "a/b", "a%0A", "a%7F", "a%C2%85", "%FF", "%2e%2e", "."}) {
    EXPECT_EQ(Destined("GET", std::string("/executors/") + id), std::unexpected(Refusal::kBadId)) << id;
  }
  EXPECT_TRUE(IsExecutorId(std::string(128, 'x')));
  EXPECT_FALSE(IsExecutorId(std::string(129, 'x')));
  EXPECT_FALSE(IsExecutorId(""));
}

TEST(QueryValueTest, FindsAParameterThatIsThereOnce) {
  EXPECT_EQ(QueryValue("a=1&token=x%2Fy&b", "token"), "x/y");
  EXPECT_EQ(QueryValue("token=", "token"), "");
  EXPECT_EQ(QueryValue("token", "token"), "");
  EXPECT_EQ(QueryValue("tokens=1&atoken=2", "token"), std::nullopt);
  EXPECT_EQ(QueryValue("token=1&token=2", "token"), std::nullopt);
  EXPECT_EQ(QueryValue("", "token"), std::nullopt);
}

}  // namespace
}  // namespace holdfast::rendezvous
