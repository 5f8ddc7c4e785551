#include "support/test_certificate.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <cstdio>
#include <memory>

#include <gtest/gtest.h>

namespace holdfast::support {
namespace {

constexpr long kSecondsOfAnHour = 3600;

using Certificate = std::unique_ptr<X509, decltype(&::X509_free)>;
using Key = std::unique_ptr<EVP_PKEY, decltype(&::EVP_PKEY_free)>;
using File = std::unique_ptr<std::FILE, decltype(&std::fclose)>;

void AddNames(X509& certificate, const std::string& names) {
  const std::unique_ptr<X509_EXTENSION, decltype(&::X509_EXTENSION_free)> extension(
      ::X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names.c_str()), ::X509_EXTENSION_free);
  EXPECT_NE(extension, nullptr);
  EXPECT_EQ(::X509_add_ext(&certificate, extension.get(), -1), 1);
}

Certificate MakeCertificate(EVP_PKEY& key, const TestCertificate::Options& options) {
  Certificate certificate(::X509_new(), ::X509_free);
  ::X509_set_version(certificate.get(), X509_VERSION_3);
  ::ASN1_INTEGER_set(::X509_get_serialNumber(certificate.get()), 1);
  ::X509_gmtime_adj(X509_getm_notBefore(certificate.get()), options.ends_in_s - 2 * kSecondsOfAnHour);
  ::X509_gmtime_adj(X509_getm_notAfter(certificate.get()), options.ends_in_s);
  ::X509_set_pubkey(certificate.get(), &key);
  X509_NAME* const name = ::X509_get_subject_name(certificate.get());
  ::X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("test"), -1, -1, 0);
  ::X509_set_issuer_name(certificate.get(), name);
  if (!options.names.empty()) AddNames(*certificate, options.names);
  EXPECT_GT(::X509_sign(certificate.get(), &key, ::EVP_sha256()), 0);
  return certificate;
}

}  // namespace

TestCertificate::TestCertificate(const Options& options) {
  const Key key(::EVP_EC_gen("P-256"), ::EVP_PKEY_free);
  const Certificate certificate = MakeCertificate(*key, options);
  const File certificate_out(std::fopen(certificate_file().c_str(), "w"), std::fclose);
  EXPECT_EQ(::PEM_write_X509(certificate_out.get(), certificate.get()), 1);
  const File key_out(std::fopen(key_file().c_str(), "w"), std::fclose);
  EXPECT_EQ(::PEM_write_PrivateKey(key_out.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr), 1);
  EXPECT_EQ(::fchmod(::fileno(key_out.get()), 0600), 0);
}

}  // namespace holdfast::support
