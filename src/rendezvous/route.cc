#include "rendezvous/route.h"

#include <algorithm>
#include <array>

#include "base/percent.h"
#include "base/utf8.h"

namespace holdfast::rendezvous {
namespace {

constexpr size_t kMaxIdBytes = 128;

struct Row {
  Route route;
  std::string_view method;
  std::string_view before_id, behind_id;  // a path without an id is in `before_id`
  enum class Id { kYes, kNo } id = Id::kYes;
};
constexpr auto kRows = std::to_array<Row>({
    {Route::kRegisterExecutor, "POST", "/cloud/executor/", "/register"},
    {Route::kRegisterEnvironment, "POST", "/cloud/environment/", "/direct/register"},
    {Route::kExecutor, "GET", "/rendezvous/", ""},
    {Route::kClient, "GET", "/executors/", ""},
    {Route::kList, "GET", "/executors", "", Row::Id::kNo},
    {Route::kLink, "GET", "/links/", ""},
    {Route::kWatch, "GET", "/links", "", Row::Id::kNo},
    {Route::kReady, "GET", "/readyz", "", Row::Id::kNo},
    {Route::kMetrics, "GET", "/metrics", "", Row::Id::kNo},
});

bool Matches(const Row& row, std::string_view path) {
  if (row.id == Row::Id::kNo) return path == row.before_id;
  return path.size() > row.before_id.size() + row.behind_id.size() && path.starts_with(row.before_id) &&
         path.ends_with(row.behind_id);
}

bool IsControl(char32_t c) { return c < 0x20 || (c >= 0x7f && c < 0xa0); }

}  // namespace

std::expected<Destination, Refusal> DestinationOf(const transport::HttpMessage& request) {
  const std::string_view path = request.path;
  const auto* const row = std::ranges::find_if(kRows, [path](const Row& it) { return Matches(it, path); });
  if (row == kRows.end()) return std::unexpected(Refusal::kUnknownPath);
  // HEAD is GET without the body, which the transport leaves out.
  const std::string_view method = request.method == "HEAD" ? "GET" : std::string_view(request.method);
  if (method != row->method) return std::unexpected(Refusal::kBadMethod);
  if (row->id == Row::Id::kNo) return Destination{.route = row->route};
  const size_t fixed = row->before_id.size() + row->behind_id.size();
  std::string id = PercentDecoded(path.substr(row->before_id.size(), path.size() - fixed));
  if (!IsExecutorId(id)) return std::unexpected(Refusal::kBadId);
  return Destination{.route = row->route, .id = std::move(id)};
}

std::optional<std::string> QueryValue(std::string_view query, std::string_view name) {
  std::optional<std::string> found;
  while (!query.empty()) {
    const std::string_view parameter = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(parameter.size() + 1, query.size()));
    if (parameter.substr(0, parameter.find('=')) != name) continue;
    if (found) return std::nullopt;
    found = PercentDecoded(parameter.substr(std::min(name.size() + 1, parameter.size())));
  }
  return found;
}

bool IsExecutorId(std::string_view text) {
  if (text.empty() || text.size() > kMaxIdBytes || text == "." || text == ".." || text.contains('/')) return false;
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    if (length == 0 || IsControl(Utf8Character(text.substr(0, length)))) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace holdfast::rendezvous
