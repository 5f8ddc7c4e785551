#include "auth/tls_key_file.h"

#include <sys/stat.h>

#include "base/log.h"

namespace holdfast::auth {

void WarnOfReadableKey(const std::string& key_file) {
  struct stat status{};
  if (::stat(key_file.c_str(), &status) != 0 || (status.st_mode & S_IROTH) == 0) return;
  LogWarn("tls.key_readable", {{"file", key_file}, {"reason", "every user may read the TLS key (chmod o-r)"}});
}

}  // namespace holdfast::auth
