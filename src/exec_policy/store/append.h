// AppendRule adds a rule that the user has approved to a rules file.
#pragma once

#include <chrono>
#include <span>
#include <string>

#include "base/result.h"
#include "exec_policy/evaluation.h"

namespace holdfast::exec_policy {

enum class Appended { kYes, kWasThere };

// Appends one line with the rule, unless the file has exactly this line. Makes the file and its directories if they are
// missing. Blocks on the disk, and for at most `patience` while another process holds the lock of the file.
//
// The rule is there as a whole or not at all, whatever moment the process is killed or the machine stops at: the line
// is first written as a comment, and becomes a rule when its first character is overwritten.
//
// The lock is an flock on the file itself, and the file is written in place, because codex does the same with the same
// file. If the file was replaced by a renamed copy, a codex that waits for the lock would then append to the old one.
Result<Appended> AppendRule(const std::string& path, std::span<const std::string> prefix, Decision decision,
                            std::chrono::milliseconds patience = std::chrono::seconds(2));

}  // namespace holdfast::exec_policy
