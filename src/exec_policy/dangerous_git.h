// The commands of git that lose commits, branches or files.
#pragma once

#include "exec_policy/option_words.h"

namespace holdfast::exec_policy {

// `arguments` are the words behind `git`.
bool IsDangerousGit(Words arguments);

}  // namespace holdfast::exec_policy
