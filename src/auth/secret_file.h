// The files by which the owner of a server decides about access: tokens, secrets and private keys. No other user may be
// able to change such a file.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

#include "base/result.h"

namespace holdfast::auth {

struct GuardedText {
  std::string text;
  mode_t mode = 0;
};

// Reads the file. It must be a regular file of this user or of root that no other user may change, and not be longer
// than `max_bytes`. The directories above it are not looked at. The error never contains a part of the text.
Result<GuardedText> ReadGuardedFile(const std::string& path, size_t max_bytes);

// A token or a secret, which a file contains with blanks and line ends around it.
struct FileSecret {
  std::string text;  // without the blanks and line ends around it; not empty
  bool is_readable_by_everyone = false;
};

// Reads the file. It must be a regular file of this user or of root that no other user may change, because such a user
// could choose the secret. The directories above it are not looked at. The error never contains a part of the secret.
Result<FileSecret> ReadSecretFile(const std::string& path);

// Logs a warning if every user of the machine may read the file of a private TLS key: a process of another user that
// has read the key can pretend to be the server.
void WarnOfReadableKey(const std::string& key_file);

}  // namespace holdfast::auth
