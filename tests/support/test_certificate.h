// Certificates for tests, made when they are needed and valid for an hour.
#pragma once

#include <string>

#include "support/scratch_dir.h"

namespace holdfast::support {

// A self-signed certificate and its key, as PEM files in a directory that is removed with this object.
class TestCertificate {
 public:
  struct Options {
    std::string names = "IP:127.0.0.1,DNS:localhost";  // subjectAltName in the syntax of OpenSSL; none if empty
    long ends_in_s = 3600;
  };

  TestCertificate() : TestCertificate(Options{}) {}
  explicit TestCertificate(const Options& options);

  std::string certificate_file() const { return dir_.path() + "/cert.pem"; }
  std::string key_file() const { return dir_.path() + "/key.pem"; }

 private:
  ScratchDir dir_;
};

}  // namespace holdfast::support
