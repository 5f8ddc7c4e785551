#include "exec_server/fs_path.h"

#include "base/file_uri.h"

namespace holdfast::exec_server {

Result<std::string> ResolvePath(const std::string& text, const std::optional<wire::Sandbox>& sandbox) {
  if (sandbox && sandbox->restricts_files()) {
    return Fail(ErrorKind::kInvalidParams, "sandbox: this server cannot restrict file access");
  }
  return ParsePath(text);
}

}  // namespace holdfast::exec_server
