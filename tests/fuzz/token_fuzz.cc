// Whatever a client sends as its Authorization header or as a JWT, the parsers survive. A token is a part of its header
// without blanks. Only a token that was signed is accepted: the fuzzer signs the input as a header and a payload, so
// that the parser of claims sees it too, and any change of the signature makes the token invalid.
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "auth/bearer_token.h"
#include "auth/jwt.h"
#include "base/base64.h"
#include "base/check.h"

namespace {

using namespace holdfast;

constexpr std::string_view kSecret = "a shared secret that has 32 bytes or more";

std::string Base64Url(std::string_view bytes) {
  std::string text = Base64Encode(std::as_bytes(std::span(bytes)));
  text.resize(text.find_last_not_of('=') + 1);
  for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
  return text;
}

std::string Signed(const std::string& text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> mac;
  unsigned size = 0;
  ::HMAC(::EVP_sha256(), kSecret.data(), static_cast<int>(kSecret.size()),
         reinterpret_cast<const unsigned char*>(text.data()), text.size(), mac.data(), &size);
  return text + "." + Base64Url({reinterpret_cast<const char*>(mac.data()), size});
}

void TryHeader(std::string_view input) {
  const size_t middle = input.find('\n');
  std::vector<std::string_view> headers = {input.substr(0, middle)};
  if (middle != std::string_view::npos) headers.push_back(input.substr(middle + 1));
  const auto token = auth::BearerTokenOf(headers);
  if (!token) return;
  CHECK(headers.size() == 1 && !token->empty() && token->find_first_of(" \t") == std::string_view::npos);
  CHECK(token->data() >= input.data() && token->data() + token->size() <= input.data() + input.size());
}

void TryToken(const std::string& token) {
  const auto claims = auth::VerifiedClaims(token, kSecret);
  if (!claims) return;
  std::string changed = token;
  changed.back() = changed.back() == 'A' ? 'E' : 'A';
  CHECK(!auth::VerifiedClaims(changed, kSecret));
  const auth::SignedTokens tokens{.secret = std::string(kSecret), .issuer = "me", .audience = "here"};
  const auto checked = tokens.Check(token, std::chrono::sys_seconds(std::chrono::seconds(1'000'000)));
  CHECK(checked || claims->expires || checked.error() == auth::Refusal::kBadJwt);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  TryHeader(input);
  CHECK(!auth::VerifiedClaims(input, kSecret));
  TryToken(Signed(std::string(input)));
  TryToken(Signed(Base64Url(input) + "." + Base64Url(R"({"exp":2000000})")));
  TryToken(Signed(Base64Url(R"({"alg":"HS256"})") + "." + Base64Url(input)));
  return 0;
}
