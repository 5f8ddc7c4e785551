#include "exec_server/environment/provider_id.h"

#include <span>

#include <fmt/format.h>

#include "base/sha256.h"

namespace holdfast::exec_server {

std::optional<std::string> ProviderId(std::string_view version, std::string_view build_id) {
  if (build_id.empty()) return std::nullopt;
  const std::string text = fmt::format("holdfast exec-server\n{}\nx86_64 linux\n{}\n", version, build_id);
  Sha256 digest;
  digest.Update(std::as_bytes(std::span(text)));
  return "sha256:" + digest.HexDigest();
}

}  // namespace holdfast::exec_server
