#include "support/contents.h"

#include <fstream>
#include <sstream>
#include <utility>

namespace holdfast::support {

std::string Contents(const std::string& path) {
  const std::ifstream file(path, std::ios::binary);
  std::ostringstream contents;
  contents << file.rdbuf();
  return std::move(contents).str();
}

}  // namespace holdfast::support
