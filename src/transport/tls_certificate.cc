#include "transport/tls_certificate.h"

#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <memory>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "transport/socket_address.h"

namespace holdfast::transport {
namespace {

// A message lists only so many of the names of a certificate.
constexpr size_t kMostNames = 5;

std::string AddressText(const ASN1_OCTET_STRING& ip) {
  char text[INET6_ADDRSTRLEN] = "";
  const int family = ::ASN1_STRING_length(&ip) == 4 ? AF_INET : AF_INET6;
  ::inet_ntop(family, ::ASN1_STRING_get0_data(&ip), text, sizeof(text));
  return text;
}

// The names come from a server that is not trusted, so anything that is no name is left out.
std::string NameText(const ASN1_IA5STRING& name) {
  const std::string text(reinterpret_cast<const char*>(::ASN1_STRING_get0_data(&name)),
                         static_cast<size_t>(::ASN1_STRING_length(&name)));
  return text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_*") == text.npos
             ? text
             : std::string();
}

std::vector<std::string> NamesOf(const X509& certificate) {
  std::vector<std::string> names;
  const std::unique_ptr<GENERAL_NAMES, decltype(&::GENERAL_NAMES_free)> found(
      static_cast<GENERAL_NAMES*>(::X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr)),
      ::GENERAL_NAMES_free);
  for (int i = 0; found != nullptr && i < sk_GENERAL_NAME_num(found.get()) && names.size() < kMostNames; ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(found.get(), i);
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
  const int error = ::X509_STORE_CTX_get_error(&check);
  switch (error) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return Mismatch(*::X509_STORE_CTX_get0_cert(&check), host);
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      return "its certificate is self-signed and is not among the trusted ones";
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "its certificate has expired";
    default:
      return fmt::format("its certificate is not trusted: {}", ::X509_verify_cert_error_string(error));
  }
}

struct Expectation {
  std::string host;
  std::string& failure;
};

void FreeExpectation(void*, void* expectation, CRYPTO_EX_DATA*, int, long, void*) {
  delete static_cast<Expectation*>(expectation);
}

int ExpectationIndex() {
  static const int index = ::SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, FreeExpectation);
  return index;
}

int OnVerified(int is_valid, X509_STORE_CTX* check) {
  if (is_valid == 1) return 1;
  auto* const ssl = static_cast<SSL*>(::X509_STORE_CTX_get_ex_data(check, ::SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto* const expected = static_cast<Expectation*>(::SSL_get_ex_data(ssl, ExpectationIndex()));
  if (expected->failure.empty()) expected->failure = Explain(*check, expected->host);
  return 0;
}

}  // namespace

void ExpectServer(ssl_st& ssl, const std::string& host, std::string& failure) {
  if (TcpAddress(host, 0)) {
    CHECK(::X509_VERIFY_PARAM_set1_ip_asc(::SSL_get0_param(&ssl), host.c_str()) == 1);
  } else {
    ::SSL_set_hostflags(&ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    CHECK(::SSL_set1_host(&ssl, host.c_str()) == 1);
    SSL_set_tlsext_host_name(&ssl, host.c_str());
  }
  auto expectation = std::make_unique<Expectation>(Expectation{host, failure});
  CHECK(::SSL_set_ex_data(&ssl, ExpectationIndex(), expectation.get()) == 1);
  (void)expectation.release();  // the session frees it
  ::SSL_set_verify(&ssl, SSL_VERIFY_PEER, OnVerified);
}

}  // namespace holdfast::transport
