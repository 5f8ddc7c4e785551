#include "transport/tls_context.h"

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

TEST(TlsContextTest, RefusesTrustedCertificatesThatCannotBeRead) {
  const auto context = TlsContext::ForClient("/nonexistent/ca");
  ASSERT_FALSE(context.has_value());
  EXPECT_EQ(context.error().message, "read the trusted certificates /nonexistent/ca: No such file or directory");
}

}  // namespace
}  // namespace holdfast::transport
