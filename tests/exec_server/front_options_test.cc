#include "exec_server/front_options.h"

#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/log.h"
#include "support/test_certificate.h"

namespace holdfast::exec_server {
namespace {

using support::TestCertificate;
using testing::HasSubstr;
using transport::Security;
using transport::WebSocketUrl;

const WebSocketUrl kPlainUrl{.ip = "127.0.0.1", .loopback = true};
const WebSocketUrl kTlsUrl{.ip = "127.0.0.1", .loopback = true, .security = Security::kTls};

std::string RefusalOf(const WebSocketUrl& url, const Config& config) {
  const auto options = FrontOptionsFor(url, config);
  return options ? "" : options.error().message;
}

Config WithTls(std::string certificate_file, std::string key_file) {
  Config config;
  config.tls_cert = std::move(certificate_file);
  config.tls_key = std::move(key_file);
  return config;
}

TEST(FrontOptionsTest, SpeakTlsIfThereIsACertificate) {
  const TestCertificate certificate;
  const Config config = WithTls(certificate.certificate_file(), certificate.key_file());
  for (const WebSocketUrl& url : {kPlainUrl, kTlsUrl}) {
    const auto options = FrontOptionsFor(url, config);
    ASSERT_TRUE(options.has_value()) << options.error().message;
    EXPECT_TRUE(options->tls.has_value());
  }
}

TEST(FrontOptionsTest, SpeakPlainlyWithoutACertificate) {
  const auto options = FrontOptionsFor(kPlainUrl, Config{});
  ASSERT_TRUE(options.has_value()) << options.error().message;
  EXPECT_FALSE(options->tls.has_value());
}

TEST(FrontOptionsTest, NeedACertificateForAnEncryptedPort) {
  EXPECT_THAT(RefusalOf(kTlsUrl, Config{}), HasSubstr("Use --tls-cert and --tls-key"));
}

TEST(FrontOptionsTest, NeedTheCertificateAndItsKey) {
  const TestCertificate certificate;
  EXPECT_THAT(RefusalOf(kPlainUrl, WithTls(certificate.certificate_file(), "")), HasSubstr("--tls-key"));
  EXPECT_THAT(RefusalOf(kPlainUrl, WithTls("", certificate.key_file())), HasSubstr("--tls-cert"));
}

TEST(FrontOptionsTest, AreRefusedWithFilesThatCannotBeUsed) {
  const TestCertificate certificate, other;
  EXPECT_THAT(RefusalOf(kPlainUrl, WithTls(certificate.certificate_file(), other.key_file())),
              HasSubstr("key values mismatch"));
  EXPECT_THAT(RefusalOf(kPlainUrl, WithTls("/nonexistent", other.key_file())), HasSubstr("No such file or directory"));
}

// Returns the log of a server whose key file has this mode.
std::string LogWithKeyOfMode(mode_t mode) {
  const TestCertificate certificate;
  EXPECT_EQ(::chmod(certificate.key_file().c_str(), mode), 0);
  InitLog(LogLevel::kInfo, LogFormat::kText);  // another suite of the same process may have changed it
  testing::internal::CaptureStderr();
  EXPECT_EQ(RefusalOf(kPlainUrl, WithTls(certificate.certificate_file(), certificate.key_file())), "");
  return testing::internal::GetCapturedStderr();
}

TEST(FrontOptionsTest, WarnOfAKeyThatEveryUserMayRead) {
  EXPECT_THAT(LogWithKeyOfMode(0644), HasSubstr("tls.key_readable"));
  EXPECT_EQ(LogWithKeyOfMode(0640), "");
}

TEST(FrontOptionsTest, HaveNoTlsWithoutAPort) {
  EXPECT_TRUE(CheckTlsWithoutPort(Config{}).has_value());
  EXPECT_FALSE(CheckTlsWithoutPort(WithTls("a", "b")).has_value());
  EXPECT_FALSE(CheckTlsWithoutPort(WithTls("a", "")).has_value());
}

}  // namespace
}  // namespace holdfast::exec_server
