#include "sandbox/bubblewrap/namespace_trial.h"

#include <fcntl.h>
#include <unistd.h>

#include <variant>

#include "sandbox/bubblewrap/outer_stage.h"
#include "sandbox/jail/inner_orders.h"
#include "sys/exit_status.h"
#include "sys/spawn.h"

namespace holdfast::sandbox {
namespace {

NamespacePlan WithoutPaths(const NamespacePlan& plan) {
  NamespacePlan bare;
  bare.own_network = plan.own_network;
  bare.working_directory = "/";
  bare.mounts = {ReadOnlyBind{.path = "/"}};
  for (const Mount& mount : plan.mounts) {
    if (std::holds_alternative<PrivateDev>(mount) || std::holds_alternative<FreshProc>(mount)) {
      bare.mounts.push_back(mount);
    }
  }
  return bare;
}

// The command is a directory, which cannot be executed. When the inner stage reports that, everything before has
// worked.
InnerOrders ExecuteNothing() { return {.command = {.program = "/", .argv = {"/"}, .cwd = "/"}}; }

}  // namespace

Namespaces TryNamespaces(const Bubblewrap& bubblewrap, const NamespacePlan& plan, std::optional<int> sealed_program) {
  const NamespacePlan bare = WithoutPaths(plan);
  constexpr int refused = 1;
  auto in_child = [&] {
    const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing < 0) return 0;
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, stream);
    // A failure of the helper itself, such as a lack of descriptors, shows nothing about namespaces.
    const auto tried = RunOuterStage(bubblewrap, bare, ExecuteNothing(), sealed_program);
    return !tried && tried.error().by == NotStarted::By::kBackend ? refused : 0;
  };
  const auto child = sys::Spawn(sys::Sharing::kNothing, in_child);
  if (!child) return Namespaces::kWork;  // unknown; kWork makes the caller fail instead of going on without them
  const int status = sys::AwaitStatus(*child);
  return sys::ExitStatusOf(status) == refused ? Namespaces::kDoNotWork : Namespaces::kWork;
}

}  // namespace holdfast::sandbox
