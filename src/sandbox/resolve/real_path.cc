#include "sandbox/resolve/real_path.h"

#include <cstdlib>
#include <memory>

namespace holdfast::sandbox {

std::optional<std::string> RealPath(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), &std::free);
  return real ? std::optional<std::string>(real.get()) : std::nullopt;
}

}  // namespace holdfast::sandbox
