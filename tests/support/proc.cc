#include "support/proc.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <utility>

namespace holdfast::support {
namespace {

namespace fs = std::filesystem;

struct Stat {
  char state;
  pid_t parent;
};

// The name is in parentheses and may contain any character, so the fields are counted from the last parenthesis.
std::optional<Stat> ReadStat(pid_t pid) {
  const auto text = ReadProcFile(pid, "stat");
  if (!text) return std::nullopt;
  const size_t end = text->rfind(") ");
  if (end == std::string::npos) return std::nullopt;
  return Stat{(*text)[end + 2], std::atoi(text->c_str() + end + 4)};
}

std::vector<pid_t> AllPids() {
  std::vector<pid_t> pids;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid > 0) pids.push_back(pid);
  }
  return pids;
}

}  // namespace

std::optional<std::string> ReadProcFile(pid_t pid, std::string_view name) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/" + std::string(name), std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();  // a process that ends meanwhile makes the read fail: what came so far is all there is
  return std::move(text).str();
}

bool IsAlive(pid_t pid) {
  const auto stat = ReadStat(pid);
  return stat && stat->state != 'Z' && stat->state != 'X';
}

// One pass over all processes finds every parent: on a busy machine a pass takes longer than some processes live.
std::vector<pid_t> DescendantsOf(pid_t pid) {
  std::multimap<pid_t, pid_t> children;
  for (const pid_t candidate : AllPids()) {
    if (const auto stat = ReadStat(candidate)) children.emplace(stat->parent, candidate);
  }
  std::vector<pid_t> all = {pid};
  for (size_t i = 0; i < all.size(); ++i) {
    const auto [begin, end] = children.equal_range(all[i]);
    for (auto child = begin; child != end; ++child) all.push_back(child->second);
  }
  all.erase(all.begin());
  return all;
}

std::optional<pid_t> FirstProcessBelow(pid_t pid) {
  for (const pid_t child : ChildrenOf(pid)) {
    if (ReadProcFile(child, "status").value_or("").contains(fmt::format("\t{}\t1\n", child))) return child;
  }
  return std::nullopt;
}

bool IsZombie(pid_t pid) {
  const auto stat = ReadStat(pid);
  return stat && stat->state == 'Z';
}

std::vector<pid_t> ChildrenOf(pid_t pid) {
  std::vector<pid_t> children;
  for (const pid_t candidate : AllPids()) {
    const auto stat = ReadStat(candidate);
    if (stat && stat->parent == pid) children.push_back(candidate);
  }
  return children;
}

size_t CountFds(pid_t pid) {
  std::error_code gone;
  const fs::directory_iterator fds("/proc/" + std::to_string(pid) + "/fd", gone);
  return gone ? 0 : static_cast<size_t>(std::distance(fds, fs::directory_iterator()));
}

size_t ResidentKib(pid_t pid) {
  const auto text = ReadProcFile(pid, "status");
  const size_t at = text ? text->find("VmRSS:") : std::string::npos;
  return at == std::string::npos ? 0 : std::strtoul(text->c_str() + at + 6, nullptr, 10);
}

std::vector<pid_t> LivingWithVariable(std::string_view assignment) {
  const std::string wanted = std::string(1, '\0') + std::string(assignment) + '\0';
  std::vector<pid_t> found;
  for (const pid_t pid : AllPids()) {
    const auto environment = ReadProcFile(pid, "environ");
    if (!environment || !(std::string(1, '\0') + *environment).contains(wanted)) continue;
    if (pid != ::getpid() && IsAlive(pid)) found.push_back(pid);
  }
  return found;
}

}  // namespace holdfast::support
