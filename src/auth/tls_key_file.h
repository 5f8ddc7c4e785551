// The file of a server's private TLS key.
#pragma once

#include <string>

namespace holdfast::auth {

// Logs a warning if every user of the machine may read the file: a process of another user that has read the key can
// pretend to be the server.
void WarnOfReadableKey(const std::string& key_file);

}  // namespace holdfast::auth
