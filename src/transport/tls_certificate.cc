#include "transport/tls_certificate.h"

#include <arpa/inet.h>

#include <memory>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "transport/socket_address.h"
#include "transport/tls_library.h"

namespace holdfast::transport {
namespace {

// A message lists only so many of the names of a certificate.
constexpr size_t kMostNames = 5;

std::string AddressText(const ASN1_OCTET_STRING& ip) {
  char text[INET6_ADDRSTRLEN] = "";
  const int family = Tls().string_length(&ip) == 4 ? AF_INET : AF_INET6;
  ::inet_ntop(family, Tls().string_data(&ip), text, sizeof(text));
  return text;
}

// The names come from a server that is not trusted, so anything that is no name is left out.
std::string NameText(const ASN1_IA5STRING& name) {
  const std::string text(reinterpret_cast<const char*>(Tls().string_data(&name)),
                         static_cast<size_t>(Tls().string_length(&name)));
  return text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_*") == text.npos
             ? text
             : std::string();
}

std::vector<std::string> NamesOf(const X509& certificate) {
  std::vector<std::string> names;
  const std::unique_ptr<GENERAL_NAMES, decltype(&::GENERAL_NAMES_free)> found(
      static_cast<GENERAL_NAMES*>(Tls().certificate_extension(&certificate, NID_subject_alt_name, nullptr, nullptr)),
      Tls().names_free);
  const auto* const stack = reinterpret_cast<const OPENSSL_STACK*>(found.get());
  for (int i = 0; found != nullptr && i < Tls().stack_size(stack) && names.size() < kMostNames; ++i) {
    const auto* const name = static_cast<const GENERAL_NAME*>(Tls().stack_element(stack, i));
    std::string text;
    if (name->type == GEN_DNS) text = NameText(*name->d.dNSName);
    if (name->type == GEN_IPADD) text = AddressText(*name->d.iPAddress);
    if (!text.empty()) names.push_back(std::move(text));
  }
  return names;
}

std::string Mismatch(const X509& certificate, const std::string& host) {
  const auto names = NamesOf(certificate);
  if (names.empty()) return fmt::format("its certificate names no host, and so is not valid for {}", host);
  return fmt::format("its certificate is for {}, not for {}", fmt::join(names, ", "), host);
}

std::string Explain(X509_STORE_CTX& check, const std::string& host) {
  const int error = Tls().check_error(&check);
  switch (error) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return Mismatch(*Tls().checked_certificate(&check), host);
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      return "its certificate is self-signed and is not among the trusted ones";
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "its certificate has expired";
    default:
      return fmt::format("its certificate is not trusted: {}", Tls().check_error_text(error));
  }
}

struct Expectation {
  std::string host;
  TrustDecision decision;
  std::string& distrust;
};

void FreeExpectation(void*, void* expectation, CRYPTO_EX_DATA*, int, long, void*) {
  delete static_cast<Expectation*>(expectation);
}

int ExpectationIndex() {
  static const int index = Tls().new_index(CRYPTO_EX_INDEX_SSL, 0, nullptr, nullptr, nullptr, FreeExpectation);
  return index;
}

int OnVerified(int is_valid, X509_STORE_CTX* check) {
  if (is_valid == 1) return 1;
  auto* const ssl = static_cast<SSL*>(Tls().check_attached(check, Tls().session_index()));
  auto* const expected = static_cast<Expectation*>(Tls().attached(ssl, ExpectationIndex()));
  if (expected->distrust.empty()) expected->distrust = Explain(*check, expected->host);
  return expected->decision == TrustDecision::kLater ? 1 : 0;
}

}  // namespace

void ExpectServer(ssl_st& ssl, const std::string& host, TrustDecision decision, std::string& distrust) {
  if (TcpAddress(host, 0)) {
    CHECK(Tls().set_address(Tls().parameters(&ssl), host.c_str()) == 1);
  } else {
    Tls().set_host_flags(&ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    CHECK(Tls().set_host(&ssl, host.c_str()) == 1);
    Tls().control(&ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, const_cast<char*>(host.c_str()));
  }
  auto expectation = std::make_unique<Expectation>(Expectation{host, decision, distrust});
  CHECK(Tls().set_attached(&ssl, ExpectationIndex(), expectation.get()) == 1);
  (void)expectation.release();  // the session frees it
  Tls().set_verify(&ssl, SSL_VERIFY_PEER, OnVerified);
}

}  // namespace holdfast::transport
