// A check of the owner and the mode of rules files and of their directories.
//
// What it does not stop: processes of the same user, including a sandboxed command that may write the directory.
#pragma once

#include <sys/stat.h>

#include <string>

#include "base/result.h"

namespace holdfast::exec_policy {

// Fails with a sentence that says what to do, unless the file or directory belongs to this user or to root and no other
// user can write it. It may be writable by a group that has the number of the owner, because that is the owner's
// private group.
Result<> CheckTrust(const std::string& path, const struct stat& status);

}  // namespace holdfast::exec_policy
