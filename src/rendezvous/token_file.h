// The file from which a node reads its table of tokens, again whenever it has changed. These functions block, so a
// worker calls them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "rendezvous/token_table.h"

namespace holdfast::rendezvous {

// The facts by which a change of a file is noticed. All of them are 0 for a file that is absent.
struct FileVersion {
  uint64_t device = 0, inode = 0;
  int64_t size = 0, changed_s = 0, changed_ns = 0;

  friend bool operator==(const FileVersion&, const FileVersion&) = default;
};

struct TokenReading {
  FileVersion version;
  Result<TokenTable> table;
};

// Reads the file, which no other user may be able to change (auth/secret_file.h).
TokenReading ReadTokenFile(const std::string& path);

// Does the same if the file is not the one of that version any more. A file that changes while it is read is left for
// the next call.
std::optional<TokenReading> ReadIfChanged(const std::string& path, const FileVersion& version);

}  // namespace holdfast::rendezvous
