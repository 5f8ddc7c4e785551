#include "sandbox/launchers/launch_orders.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/record.h"
#include "sandbox/jail/inner_orders.h"
#include "sandbox/native/mount_builder.h"
#include "sandbox/prepared_plan.h"
#include "sys/memory_file.h"

namespace holdfast::sandbox {
namespace {

std::vector<std::string> Entries(const process::Environment& variables) {
  std::vector<std::string> entries;
  entries.reserve(variables.size());
  for (const auto& [name, value] : variables) entries.push_back(std::string(name).append("=").append(value));
  return entries;
}

std::optional<std::string_view> PathOf(const process::Environment& variables) {
  const auto found = std::ranges::find(variables, "PATH", &process::Environment::value_type::first);
  return found != variables.end() ? std::optional<std::string_view>(found->second) : std::nullopt;
}

// Pid 1 looks the program up as the helper does, which gets the words of the command and no search path.
InnerOrders OrdersFor(const NamespacePlan& plan, const process::Command& command,
                      const process::Environment& variables) {
  InnerOrders orders;
  orders.command = process::MakeCommand(process::TextOf(command), PathOf(variables));
  orders.command.cwd = plan.working_directory;
  orders.environment = Entries(variables);
  orders.filter = plan.filter;
  orders.landlock = plan.landlock;
  return orders;
}

// The keeper of a helper enters the directory before there is a sandbox, and reports why it cannot.
Result<> CheckDirectory(const std::string& cwd) {
  if (const OwnedFd directory(::open(cwd.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)); !directory.is_open()) {
    return FailErrno("open", cwd);
  }
  if (::access(cwd.c_str(), X_OK) < 0) return FailErrno("access", cwd);
  return {};
}

}  // namespace

Result<LaunchOrders> MakeLaunchOrders(const SandboxedCommand& described, const process::Command& command,
                                      const process::Environment& variables, WalkMemory& memory) {
  TRY_VOID(CheckDirectory(command.cwd));
  TRY(const PreparedPlan prepared, PreparePlan(described, &memory));
  if (!FitsTemplate(prepared.plan)) {
    return Fail(ErrorKind::kInvalidRequest, "the plan mounts what each command has for itself");
  }
  TRY(OwnedFd orders, sys::MakeMemoryFile("orders", EncodeRecord(OrdersFor(prepared.plan, command, variables))));
  return LaunchOrders{.plan_key = prepared.key, .orders = std::move(orders)};
}

}  // namespace holdfast::sandbox
