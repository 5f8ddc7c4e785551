#include "sandbox/jail/inner_orders.h"

#include <algorithm>
#include <functional>

namespace holdfast::sandbox {
namespace {

constexpr int kMaxFd = 1 << 20;

bool IsPassable(int fd) { return fd > 2 && fd <= kMaxFd; }

bool ArePaths(const std::vector<std::string>& paths) {
  return std::ranges::all_of(paths, [](const std::string& path) { return path.starts_with('/'); });
}

}  // namespace

bool InnerOrders::IsValid() const {
  if (command.argv.empty() != built_in || (!command.cwd.empty() && !command.cwd.starts_with('/'))) return false;
  if (built_in ? exec_supervisor_fd.has_value() : !absent.empty()) return false;
  if (!ArePaths(absent) || (control_fd && lifeline_fd)) return false;
  if (std::ranges::adjacent_find(kept_fds, std::greater_equal()) != kept_fds.end()) return false;
  std::vector<int> fds = kept_fds;
  if (proxy) fds.push_back(proxy->control_fd);
  if (streams) fds.insert(fds.end(), {streams->in, streams->out, streams->err});
  for (const auto& fd : {port_ruleset_fd, report_fd, lifeline_fd, control_fd, exec_supervisor_fd}) {
    if (fd) fds.push_back(*fd);
  }
  return std::ranges::all_of(fds, IsPassable);
}

}  // namespace holdfast::sandbox
