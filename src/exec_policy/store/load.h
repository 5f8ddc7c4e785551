// Rules files, read from the disk and run.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "exec_policy/policy.h"

namespace holdfast::exec_policy {

// Reads a file that the user has named. It may be anywhere, belong to anybody, and be a link to a regular file: the
// user answers for it.
Result<RulesText> ReadRulesFile(const std::string& path);

// Reads the files of a layer, `DIRECTORY/*.rules`, in the order of their names. Links and everything else that is no
// regular file are passed over. A directory that does not exist has no files. Fails if another user could have written
// one of the files, or could have put it there.
Result<std::vector<RulesText>> ReadRuleLayer(const std::string& directory);

// Reads the layers and then the files, and makes one policy of them all.
Result<Policy> LoadPolicy(std::span<const std::string> layers, std::span<const std::string> files);

}  // namespace holdfast::exec_policy
