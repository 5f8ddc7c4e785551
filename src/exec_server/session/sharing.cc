#include "exec_server/session/sharing.h"

#include <algorithm>
#include <string_view>

namespace holdfast::exec_server {
namespace {

constexpr size_t kMaxNameBytes = 64;

bool IsNameCharacter(char c) {
  const bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  return letter || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

// A name has 1 to 64 characters of A-Z, a-z, 0-9, dot, underscore and hyphen, and is not `.` or `..`, so that it can
// be written in a shell and be a file name.
bool IsSessionName(std::string_view name) {
  if (name == "." || name == "..") return false;
  return !name.empty() && name.size() <= kMaxNameBytes && std::ranges::all_of(name, IsNameCharacter);
}

constexpr uint64_t kLongestTtlMs = 1000ull * 60 * 60 * 24 * 365;

Result<> Refuse(const char* problem) { return Fail(ErrorKind::kInvalidParams, problem); }

}  // namespace

Result<> CheckSharing(const wire::InitializeParams& params) {
  const wire::SharedSessionFields& sharing = params.sharing;
  if (!sharing.shared.value_or(false)) {
    if (sharing.session_name) return Refuse("sessionName: needs shared: true");
    if (sharing.detached_ttl_ms) return Refuse("detachedTtlMs: needs shared: true");
    if (sharing.role && !params.resume_session_id) return Refuse("role: needs shared: true or resumeSessionId");
    return {};
  }
  if (!sharing.session_name) return Refuse("sessionName: is missing, and shared: true needs it");
  if (params.resume_session_id) return Refuse("resumeSessionId: cannot be combined with shared: true");
  if (!IsSessionName(*sharing.session_name)) {
    return Refuse("sessionName: needs 1 to 64 characters of A-Z, a-z, 0-9, '.', '_' and '-', and is not '.' or '..'");
  }
  return {};
}

std::optional<std::chrono::milliseconds> ToTtl(const std::optional<uint64_t>& detached_ttl_ms) {
  if (!detached_ttl_ms) return std::nullopt;
  return std::chrono::milliseconds(std::min(*detached_ttl_ms, kLongestTtlMs));
}

}  // namespace holdfast::exec_server
