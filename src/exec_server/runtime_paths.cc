#include "exec_server/runtime_paths.h"

namespace holdfast::exec_server {

RuntimePaths InstalledIn(const std::string& directory) {
  return {
      .sandbox_helper = directory + "/holdfast-linux-sandbox", .bubblewrap = {}, .holdfast = directory + "/holdfast"};
}

}  // namespace holdfast::exec_server
