// Files that contain a token or a secret, with blanks and line ends around it.
#pragma once

#include <string>

#include "base/result.h"

namespace holdfast::auth {

struct FileSecret {
  std::string text;  // without the blanks and line ends around it; not empty
  bool is_readable_by_everyone = false;
};

// Reads the file. It must be a regular file of this user or of root that no other user may change, because such a user
// could choose the secret. The directories above it are not looked at. The error never contains a part of the secret.
Result<FileSecret> ReadSecretFile(const std::string& path);

}  // namespace holdfast::auth
