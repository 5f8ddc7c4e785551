#include "exec_server/session/session_name.h"

#include <algorithm>

namespace holdfast::exec_server {
namespace {

constexpr size_t kMaxNameBytes = 64;

bool IsNameCharacter(char c) {
  const bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  return letter || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

}  // namespace

bool IsSessionName(std::string_view name) {
  if (name == "." || name == "..") return false;
  return !name.empty() && name.size() <= kMaxNameBytes && std::ranges::all_of(name, IsNameCharacter);
}

}  // namespace holdfast::exec_server
