#include "transport/tls_context.h"

#include <openssl/ssl.h>
#include <sys/stat.h>

#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/test_certificate.h"

namespace holdfast::transport {
namespace {

using support::TestCertificate;
using testing::HasSubstr;

std::string RefusalOf(const std::string& certificate_file, const std::string& key_file) {
  const auto context = TlsContext::ForServer(certificate_file, key_file);
  return context ? "" : context.error().message;
}

TEST(TlsContextTest, AcceptsACertificateWithItsKey) {
  const TestCertificate certificate;
  EXPECT_TRUE(TlsContext::ForServer(certificate.certificate_file(), certificate.key_file()).has_value());
}

TEST(TlsContextTest, NamesTheFileThatCannotBeRead) {
  const TestCertificate certificate;
  EXPECT_EQ(RefusalOf("/nonexistent/cert", certificate.key_file()),
            "read the TLS certificate /nonexistent/cert: No such file or directory");
  EXPECT_EQ(RefusalOf(certificate.certificate_file(), "/nonexistent/key"),
            "read the TLS key /nonexistent/key: No such file or directory");
}

TEST(TlsContextTest, RefusesTheKeyOfAnotherCertificate) {
  const TestCertificate certificate, other;
  EXPECT_THAT(RefusalOf(certificate.certificate_file(), other.key_file()), HasSubstr("key values mismatch"));
}

TEST(TlsContextTest, RefusesAFileOfAnotherKind) {
  const support::ScratchDir dir;
  const std::string file = dir.Write("text", "no certificate\n");
  EXPECT_THAT(RefusalOf(file, file), HasSubstr("read the TLS certificate " + file + ": no start line"));
}

TEST(TlsContextTest, DoesNotWaitForAFifo) {
  const TestCertificate certificate;
  const support::ScratchDir dir;
  const std::string fifo = dir.path() + "/fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(RefusalOf(certificate.certificate_file(), fifo), "read the TLS key " + fifo + ": it is not a regular file");
  EXPECT_EQ(RefusalOf(fifo, certificate.key_file()), "read the TLS certificate " + fifo + ": it is not a regular file");
}

TEST(TlsContextTest, RefusesAKeyThatEveryUserMayChange) {
  const TestCertificate certificate;
  ASSERT_EQ(::chmod(certificate.key_file().c_str(), 0602), 0);
  EXPECT_THAT(RefusalOf(certificate.certificate_file(), certificate.key_file()), HasSubstr("every user may change it"));
}

TEST(TlsContextTest, OffersOnlySuitesWithForwardSecrecyAndAuthenticatedEncryption) {
  const auto context = TlsContext::ForClient("");
  ASSERT_TRUE(context.has_value());
  const STACK_OF(SSL_CIPHER)* const suites = ::SSL_CTX_get_ciphers(context->get());
  int of_tls12 = 0;
  for (int i = 0; i < sk_SSL_CIPHER_num(suites); ++i) {
    const SSL_CIPHER* const suite = sk_SSL_CIPHER_value(suites, i);
    EXPECT_TRUE(::SSL_CIPHER_is_aead(suite)) << ::SSL_CIPHER_get_name(suite);
    if (std::string_view(::SSL_CIPHER_get_version(suite)) == "TLSv1.3") continue;
    EXPECT_EQ(::SSL_CIPHER_get_kx_nid(suite), NID_kx_ecdhe) << ::SSL_CIPHER_get_name(suite);
    ++of_tls12;
  }
  EXPECT_GT(of_tls12, 0);
}

TEST(TlsContextTest, RefusesTrustedCertificatesThatCannotBeRead) {
  const auto context = TlsContext::ForClient("/nonexistent/ca");
  ASSERT_FALSE(context.has_value());
  EXPECT_EQ(context.error().message, "read the trusted certificates /nonexistent/ca: No such file or directory");
}

}  // namespace
}  // namespace holdfast::transport
