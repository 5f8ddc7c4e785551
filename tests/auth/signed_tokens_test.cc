#include "auth/jwt.h"

#include <string>

#include <gtest/gtest.h>

#include "support/jwt.h"

namespace holdfast::auth {
namespace {

using support::Base64Url;
using support::JwtText;
using support::SignedJwt;

constexpr std::string_view kSecret = "0123456789abcdef0123456789abcdef";
constexpr std::chrono::sys_seconds kNow{std::chrono::seconds(1'000'000)};

// Returns what a client that comes with the token is told; an empty text if it is admitted.
std::string Answer(std::string_view token, SignedTokens tokens = {}) {
  tokens.secret = kSecret;
  const auto checked = tokens.Check(token, kNow);
  return checked ? "" : std::string(TextOf(checked.error()));
}

std::string WithPayload(std::string payload) { return SignedJwt(kSecret, {.payload = std::move(payload)}); }
std::string WithHeader(std::string header) { return SignedJwt(kSecret, {.header = std::move(header)}); }

// The token of RFC 7515, appendix A.1, with its key.
TEST(SignedTokensTest, ReadTheExampleOfTheSpecification) {
  constexpr std::string_view kToken =
      "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9."
      "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ."
      "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
  constexpr unsigned char kKey[] = {3,   35,  53, 75,  43,  15, 165, 188, 131, 126, 6,   101, 119, 123, 166, 143,
                                    90,  179, 40, 230, 240, 84, 201, 40,  169, 15,  132, 178, 210, 80,  46,  191,
                                    211, 251, 90, 146, 210, 6,  71,  239, 150, 138, 180, 195, 119, 98,  61,  34,
                                    61,  46,  33, 114, 5,   46, 79,  8,   192, 205, 154, 245, 103, 208, 128, 163};
  const std::string_view key(reinterpret_cast<const char*>(kKey), sizeof(kKey));
  EXPECT_EQ(VerifiedClaims(kToken, key),
            (JwtClaims{.expires = 1'300'819'380, .not_before = {}, .issuer = "joe", .audiences = {}}));
}

TEST(SignedTokensTest, AreValidFromNotBeforeToExpiryWithTheSkew) {
  struct Case {
    const char* payload;
    const char* answer;
  };
  for (const Case& c : {
           Case{R"({"exp":1000000})", ""},
           Case{R"({"exp":999970})", ""},
           Case{R"({"exp":999969})", "expired websocket jwt"},
           Case{R"({"exp":999969.5})", "expired websocket jwt"},
           Case{R"({"exp":999970.5})", ""},
           Case{R"({"exp":0})", "expired websocket jwt"},
           Case{R"({"exp":-1})", "expired websocket jwt"},
           Case{R"({"exp":9007199254740992})", ""},
           Case{R"({"exp":2000000,"nbf":1000030})", ""},
           Case{R"({"exp":2000000,"nbf":1000031})", "websocket jwt is not valid yet"},
           Case{R"({"exp":999969,"nbf":1000031})", "expired websocket jwt"},
       }) {
    EXPECT_EQ(Answer(WithPayload(c.payload)), c.answer) << c.payload;
  }
  using std::chrono::seconds;
  EXPECT_EQ(Answer(WithPayload(R"({"exp":999999})"), {.secret = "", .max_clock_skew = seconds(0)}),
            "expired websocket jwt");
  EXPECT_EQ(Answer(WithPayload(R"({"exp":999999})"), {.secret = "", .max_clock_skew = seconds(1)}), "");
}

TEST(SignedTokensTest, MustHaveTheIssuerThatIsRequired) {
  const SignedTokens tokens{.secret = "", .issuer = "me"};
  EXPECT_EQ(Answer(WithPayload(R"({"exp":2000000,"iss":"me"})"), tokens), "");
  EXPECT_EQ(Answer(WithPayload(R"({"exp":2000000,"iss":"you"})"), tokens), "websocket jwt issuer mismatch");
  EXPECT_EQ(Answer(WithPayload(R"({"exp":2000000})"), tokens), "websocket jwt issuer mismatch");
  EXPECT_EQ(Answer(WithPayload(R"({"exp":2000000,"iss":"you"})")), "");
}

TEST(SignedTokensTest, MustHaveTheAudienceThatIsRequiredAmongTheirs) {
  const SignedTokens tokens{.secret = "", .audience = "here"};
  EXPECT_EQ(Answer(WithPayload(R"({"exp":2000000,"aud":"here"})"), tokens), "");
  EXPECT_EQ(Answer(WithPayload(R"({"exp":2000000,"aud":["there","here"]})"), tokens), "");
  for (const char* other : {R"({"exp":2000000})", R"({"exp":2000000,"aud":"there"})", R"({"exp":2000000,"aud":[]})",
                            R"({"exp":2000000,"aud":["there","her"]})", R"({"exp":2000000,"aud":"here "})"}) {
    EXPECT_EQ(Answer(WithPayload(other), tokens), "websocket jwt audience mismatch") << other;
  }
  EXPECT_EQ(Answer(WithPayload(R"({"exp":2000000,"aud":"there"})")), "");
}

TEST(SignedTokensTest, AreRefusedWithAnyOtherAlgorithm) {
  EXPECT_EQ(Answer(WithHeader(R"({"alg":"HS256"})")), "");
  EXPECT_EQ(Answer(WithHeader(R"({"alg":"HS256","kid":"7","typ":"at+jwt"})")), "");
  for (const char* header : {R"({"alg":"none"})", R"({"alg":"None"})", R"({"alg":"HS512"})", R"({"alg":"HS384"})",
                             R"({"alg":"RS256"})", R"({"alg":"hs256"})", R"({"alg":""})", R"({"alg":null})",
                             R"({"alg":["HS256"]})", R"({})", R"([])", R"("HS256")", R"({"alg":"HS256","crit":["x"]})",
                             R"({"alg":"HS256","crit":[]})", R"({"alg":"none","alg":"HS256"})",
                             R"({"alg":"HS256"} )"
                             "x",
                             ""}) {
    EXPECT_EQ(Answer(WithHeader(header)), "invalid websocket jwt") << header;
  }
  EXPECT_EQ(Answer(Base64Url(R"({"alg":"none"})") + "." + Base64Url(R"({"exp":2000000})") + "."),
            "invalid websocket jwt");
}

TEST(SignedTokensTest, AreRefusedWithMalformedClaims) {
  for (const char* payload : {R"({})",
                              R"({"exp":null})",
                              R"({"exp":"2000000"})",
                              R"({"exp":true})",
                              R"({"exp":[2000000]})",
                              R"({"exp":9007199254740994})",
                              R"({"exp":1e300})",
                              R"({"exp":1e999})",
                              R"({"exp":18446744073709551615})",
                              R"({"exp":2000000,"exp":2000000})",
                              R"({"exp":2000000,"nbf":"0"})",
                              R"({"exp":2000000,"nbf":null})",
                              R"({"exp":2000000,"nbf":-9007199254740994})",
                              R"({"exp":2000000,"iss":7})",
                              R"({"exp":2000000,"aud":7})",
                              R"({"exp":2000000,"aud":{}})",
                              R"({"exp":2000000,"aud":["a",7]})",
                              R"([{"exp":2000000}])",
                              R"({"exp":2000000)",
                              R"({"exp":NaN})",
                              "{\"exp\":2000000,\"x\":\"\xff\"}",
                              ""}) {
    EXPECT_EQ(Answer(WithPayload(payload)), "invalid websocket jwt") << payload;
  }
}

TEST(SignedTokensTest, AreRefusedWithAnotherSignature) {
  const std::string good = WithPayload(R"({"exp":2000000})");
  ASSERT_EQ(Answer(good), "");
  const std::string unsigned_part = good.substr(0, good.rfind('.') + 1);
  EXPECT_EQ(Answer(SignedJwt("another secret of thirty-two bytes", {})), "invalid websocket jwt");
  EXPECT_EQ(Answer(unsigned_part), "invalid websocket jwt");
  EXPECT_EQ(Answer(unsigned_part + Base64Url(std::string(32, '\0'))), "invalid websocket jwt");
  EXPECT_EQ(Answer(good.substr(0, good.size() - 4)), "invalid websocket jwt");
  for (size_t i = 0; i < good.size(); ++i) {
    std::string changed = good;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    EXPECT_EQ(Answer(changed), "invalid websocket jwt") << i;
  }
}

TEST(SignedTokensTest, AreDecodedStrictly) {
  const std::string good = WithPayload(R"({"exp":2000000})");
  const size_t first = good.find('.'), last = good.rfind('.');
  const std::string header = good.substr(0, first), payload = good.substr(first + 1, last - first - 1),
                    signature = good.substr(last + 1);
  for (const std::string& token :
       {good + "=", good + ".", "." + good, good + ".x", good + " ", " " + good, header + ".." + signature,
        header + payload + "." + signature, header + ".", std::string("."), std::string(".."), std::string(),
        std::string("abc"), good.substr(0, last) + ".." + signature, good.substr(0, good.size() - 1) + "+"}) {
    EXPECT_EQ(Answer(token), "invalid websocket jwt") << token;
  }
}

TEST(SignedTokensTest, AreRefusedWhenTheyAreTooLong) {
  const auto of_size = [](size_t filling) {
    return WithPayload(R"({"exp":2000000,"x":")" + std::string(filling, 'x') + "\"}");
  };
  const std::string longest = of_size(4500), too_long = of_size(4600);
  ASSERT_LE(longest.size(), kMaxJwtBytes);
  ASSERT_GT(too_long.size(), kMaxJwtBytes);
  EXPECT_EQ(Answer(longest), "");
  EXPECT_EQ(Answer(too_long), "invalid websocket jwt");
}

}  // namespace
}  // namespace holdfast::auth
