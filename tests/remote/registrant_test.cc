#include "remote/registrant.h"

#include <openssl/sha.h>

#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::remote {
namespace {

using testing::MatchesRegex;

constexpr ProcessUuid kUuid = {std::byte{0x00}, std::byte{0x11}, std::byte{0x22}, std::byte{0x33},
                               std::byte{0x44}, std::byte{0x55}, std::byte{0x46}, std::byte{0x77},
                               std::byte{0x88}, std::byte{0x99}, std::byte{0xaa}, std::byte{0xbb},
                               std::byte{0xcc}, std::byte{0xdd}, std::byte{0xee}, std::byte{0xff}};

Registrant Executor(std::string url, std::string id) { return {.registry_url = std::move(url), .id = std::move(id)}; }

std::string ErrorOf(const Registrant& registrant) {
  const auto checked = Checked(registrant);
  return checked ? "" : checked.error().message;
}

TEST(RegistrantTest, TheIdempotencyIdIsTheDigestOfIdNameVersionAndUuid) {
  std::string text("exec-1\0my name\0codex-exec-server-v1\0", 36);
  for (const std::byte byte : kUuid) text += static_cast<char>(byte);
  std::array<uint8_t, 32> digest;
  ::SHA256(reinterpret_cast<const uint8_t*>(text.data()), text.size(), digest.data());
  Registrant registrant = Executor("http://h", "exec-1");
  registrant.name = "my name";
  EXPECT_EQ(IdempotencyId(registrant, kUuid), fmt::format("codex-exec-server-{:02x}", fmt::join(digest, "")));
}

TEST(RegistrantTest, EachProcessHasAVersionFourUuidOfItsOwn) {
  const ProcessUuid one = RandomProcessUuid(), other = RandomProcessUuid();
  EXPECT_NE(one, other);
  EXPECT_EQ(one[6] & std::byte{0xf0}, std::byte{0x40});
  EXPECT_EQ(one[8] & std::byte{0xc0}, std::byte{0x80});
}

TEST(RegistrantTest, TheBodyOfAnExecutorHasItsMembersInTheirOrder) {
  const auto request = RegistrationRequest(Executor("http://h", "exec-1"), kUuid, "T");
  EXPECT_EQ(*request.body, fmt::format(R"({{"idempotency_id":"{}","executor_id":"exec-1","name":"codex-exec-server",)"
                                       R"("labels":{{}},"metadata":{{}}}})",
                                       IdempotencyId(Executor("http://h", "exec-1"), kUuid)));
}

TEST(RegistrantTest, ADirectRegistrationNamesOnlyItsTransport) {
  Registrant registrant = Executor("http://h/api", "env 1");
  registrant.form = Form::kDirect;
  const auto request = RegistrationRequest(registrant, kUuid, "T");
  EXPECT_EQ(request.url, "http://h/api/cloud/environment/env%201/direct/register");
  EXPECT_EQ(*request.body, R"({"transport":"direct_jsonrpc_v1"})");
}

TEST(RegistrantTest, TheRequestHasTheTokenAndFollowsNoRedirect) {
  const auto request = RegistrationRequest(Executor("http://h", "e"), kUuid, "sesame");
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.headers, (std::vector<http::Header>{{"content-type", "application/json"}}));
  EXPECT_EQ(request.secret_headers, (std::vector<http::Header>{{"authorization", "Bearer sesame"}}));
  EXPECT_EQ(request.redirects, http::Redirects::kStop);
}

TEST(RegistrantTest, PutsTheIdIntoThePathAsOneSegment) {
  const struct {
    std::string id, path;
  } cases[] = {
      {"exec-1", "exec-1"}, {"a b", "a%20b"},       {"a/b", "a%2Fb"},   {"a?b#c", "a%3Fb%23c"},
      {"50%", "50%25"},     {"\xc3\xa9", "%C3%A9"}, {"a:b@c", "a:b@c"}, {"\"<>`{}", "%22%3C%3E%60%7B%7D"},
  };
  for (const auto& each : cases) {
    const auto request = RegistrationRequest(Executor("http://h", each.id), kUuid, "T");
    EXPECT_EQ(request.url, "http://h/cloud/executor/" + each.path + "/register");
  }
}

TEST(RegistrantTest, TrimsTheIdAndTheUrl) {
  const auto checked = Checked(Executor(" http://h:1/api// \n", " exec-1\t"));
  ASSERT_TRUE(checked) << checked.error().message;
  EXPECT_EQ(checked->registry_url, "http://h:1/api");
  EXPECT_EQ(checked->id, "exec-1");
}

TEST(RegistrantTest, ChecksTheIdBeforeTheUrl) {
  EXPECT_EQ(ErrorOf(Executor("", " ")),
            "executor registry configuration error: executor id is required for remote exec-server registration");
  EXPECT_EQ(ErrorOf(Executor(" // ", "e")),
            "executor registry configuration error: executor registry base URL is required");
}

TEST(RegistrantTest, RefusesUrlsThatAreNotThoseOfARegistry) {
  for (const char* url : {"registry", "ftp://h", "http://", "http://user:pass@h", "http://h?x=1", "http://h\x01"}) {
    EXPECT_THAT(ErrorOf(Executor(url, "e")),
                MatchesRegex("executor registry configuration error: .* must be http://.*"))
        << url;
  }
}

TEST(RegistrantTest, NeverRepeatsThePasswordOfARefusedUrl) {
  EXPECT_THAT(ErrorOf(Executor("http://user:hunter2@h", "e")), testing::Not(testing::HasSubstr("hunter2")));
}

TEST(RegistrantTest, RefusesIdsThatChangeThePath) {
  EXPECT_EQ(ErrorOf(Executor("http://h", "..")), "executor registry configuration error: executor id must not be ..");
}

}  // namespace
}  // namespace holdfast::remote
