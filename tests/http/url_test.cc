#include "http/url.h"

#include <gtest/gtest.h>

namespace holdfast::http {
namespace {

std::string TextOf(std::string_view url) {
  const auto parsed = ParseUrl(url);
  return parsed ? parsed->Text() : "invalid: " + parsed.error().text;
}

std::string Resolved(std::string_view base, std::string_view reference) {
  const auto url = ResolveUrl(*ParseUrl(base), reference);
  return url ? url->Text() : "invalid: " + url.error().text;
}

TEST(UrlTest, TakesAUrlApart) {
  const auto url = ParseUrl("HTTPS://User:p%40ss@Example.COM:8443/a/b?c=d#e");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->scheme, "https");
  EXPECT_EQ(url->userinfo, "User:p%40ss");
  EXPECT_EQ(url->host, "example.com");
  EXPECT_EQ(url->port, 8443);
  EXPECT_EQ(url->path, "/a/b");
  EXPECT_EQ(url->query, "?c=d");
}

TEST(UrlTest, FillsInPortAndPath) {
  EXPECT_EQ(ParseUrl("http://h")->port, 80);
  EXPECT_EQ(ParseUrl("https://h:/")->port, 443);
  EXPECT_EQ(ParseUrl("http://h")->path, "/");
  EXPECT_EQ(TextOf("http://h?q"), "http://h/?q");
}

TEST(UrlTest, WritesItBackWithoutUserinfoFragmentAndDefaultPort) {
  EXPECT_EQ(TextOf("http://u:p@h:80/x?y#z"), "http://h/x?y");
  EXPECT_EQ(TextOf("https://h:80/"), "https://h:80/");
  EXPECT_EQ(TextOf("http://[::1]:8080/"), "http://[::1]:8080/");
}

TEST(UrlTest, ShowsNeitherUserinfoNorQuery) {
  EXPECT_EQ(ParseUrl("https://u:p@h/path?token=x")->Shown(), "https://h/path");
  EXPECT_LT(ParseUrl("https://h/" + std::string(10'000, 'x'))->Shown().size(), 250u);
}

TEST(UrlTest, EncodesWhatHasNoPlaceInARequestLine) {
  EXPECT_EQ(TextOf("http://h/a b/\xc3\xa9?q=a b\"<>'"), "http://h/a%20b/%C3%A9?q=a%20b%22%3C%3E%27");
  EXPECT_EQ(TextOf("  http://h/a%20b \n"), "http://h/a%20b");
}

TEST(UrlTest, RefusesWhatIsNoUrl) {
  EXPECT_EQ(TextOf(""), "invalid: relative URL without a base");
  EXPECT_EQ(TextOf("/x"), "invalid: relative URL without a base");
  EXPECT_EQ(TextOf("127.0.0.1/x"), "invalid: relative URL without a base");
  EXPECT_EQ(TextOf("://h/"), "invalid: relative URL without a base");
  for (const char* empty : {"http:", "http://", "http:///x", "http://:80/", "http://?x", "http://u@/"}) {
    EXPECT_EQ(TextOf(empty), "invalid: empty host") << empty;
  }
  EXPECT_EQ(TextOf("http:h/x"), "invalid: empty host");
}

TEST(UrlTest, RefusesHostsThatCouldBeReadInTwoWays) {
  for (const char* url : {"http://a b/", "http://a\\@b/", "http://a%00b/", "http://\xc3\xa9/", "http://[::1]x/",
                          "http://[a.b]/", "http://[]/", "http://a]/"}) {
    EXPECT_TRUE(TextOf(url).starts_with("invalid: ")) << url;
  }
  EXPECT_EQ(TextOf("http://a@b@c/"), "invalid: invalid host");
  EXPECT_EQ(TextOf("http://[::1/"), "invalid: invalid IPv6 address");
}

TEST(UrlTest, RefusesControlBytes) {
  using namespace std::string_view_literals;
  EXPECT_EQ(TextOf("http://h/a\r\nb"), "invalid: control character");
  EXPECT_EQ(TextOf("http://h/a\0b"sv), "invalid: control character");
  EXPECT_EQ(TextOf("http://h\t/"), "invalid: control character");
  EXPECT_EQ(TextOf("http://h/\x7f"), "invalid: control character");
}

TEST(UrlTest, RefusesPortsThatAreNone) {
  for (const char* url : {"http://h:99999/", "http://h:x/", "http://h:1x/", "http://h:-1/", "http://h:1:2/"}) {
    EXPECT_EQ(TextOf(url), "invalid: invalid port number") << url;
  }
}

TEST(UrlTest, TellsAnUnsupportedSchemeFromAFault) {
  for (const char* url : {"ftp://h/", "FTP://h/", "ftp:x"}) {
    const auto parsed = ParseUrl(url);
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().kind, UrlFault::Kind::kScheme);
    EXPECT_EQ(parsed.error().text, "ftp");
  }
  EXPECT_EQ(ParseUrl("nope").error().kind, UrlFault::Kind::kInvalid);
}

TEST(UrlTest, ComparesOrigins) {
  const auto same = [](const char* a, const char* b) { return SameOrigin(*ParseUrl(a), *ParseUrl(b)); };
  EXPECT_TRUE(same("http://h/a", "HTTP://u@H:80/b?c"));
  EXPECT_FALSE(same("http://h/", "https://h/"));
  EXPECT_FALSE(same("http://h:443/", "https://h/"));
  EXPECT_FALSE(same("http://h/", "http://h:81/"));
  EXPECT_FALSE(same("http://h/", "http://h.x/"));
}

TEST(UrlTest, ResolvesReferences) {
  const std::string base = "http://u:p@h:81/a/b?q";
  EXPECT_EQ(Resolved(base, "https://other/x"), "https://other/x");
  EXPECT_EQ(Resolved(base, "//other/x"), "http://other/x");
  EXPECT_EQ(Resolved(base, "/x?y"), "http://h:81/x?y");
  EXPECT_EQ(Resolved(base, "x"), "http://h:81/a/x");
  EXPECT_EQ(Resolved(base, "x:y/z"), "invalid: x");
  EXPECT_EQ(Resolved(base, "./x:y"), "http://h:81/a/./x:y");
  EXPECT_EQ(Resolved(base, "../x"), "http://h:81/a/../x");
  EXPECT_EQ(Resolved(base, "?r"), "http://h:81/a/b?r");
  EXPECT_EQ(Resolved(base, ""), base.substr(0, 7) + base.substr(11));
  EXPECT_EQ(Resolved(base, "#f"), "http://h:81/a/b?q");
  EXPECT_EQ(Resolved(base, " x y\xc3\xa9 "), "http://h:81/a/x%20y%C3%A9");
}

TEST(UrlTest, KeepsABackslashOutOfTheHostOfAReference) {
  EXPECT_EQ(ResolveUrl(*ParseUrl("http://h/"), "/\\evil/x")->host, "h");
  EXPECT_FALSE(ResolveUrl(*ParseUrl("http://h/"), "http://h\\evil/x"));
  EXPECT_FALSE(ResolveUrl(*ParseUrl("http://h/"), "/a\r\nb"));
}

}  // namespace
}  // namespace holdfast::http
