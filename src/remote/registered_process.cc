#include "remote/registered_process.h"

#include <sys/prctl.h>

#include <utility>

#include "base/log.h"
#include "remote/registration.h"
#include "transport/dial_url.h"

namespace holdfast::remote {
namespace {

// Any process on the way to the registry could read the token.
void WarnOfPlainHttp(const Registrant& registrant) {
  const auto url = transport::ParseServerUrl(registrant.registry_url);
  if (!url || !transport::IsReadableOnTheWay(*url)) return;
  LogWarn("registry.plain",
          {{"host", transport::NameOf(*url)}, {"why", "the token is sent without encryption; use https"}});
}

}  // namespace

Result<Registrant> CheckRegistration(Registrant registrant, const TokenSource& token) {
  if (auto read = ReadToken(token); !read) {
    return Fail(read.error().kind, Unauthenticated(registrant.form, read.error().message).message);
  }
  return Checked(std::move(registrant));
}

Result<> ProtectSecrets(const Registrant& registrant) {
  if (::prctl(PR_SET_DUMPABLE, 0) < 0) return FailErrno("prctl", "PR_SET_DUMPABLE");
  WarnOfPlainHttp(registrant);
  return {};
}

}  // namespace holdfast::remote
