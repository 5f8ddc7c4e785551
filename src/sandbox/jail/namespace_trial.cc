#include "sandbox/jail/namespace_trial.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <variant>

#include "sandbox/jail/inner_orders.h"
#include "sandbox/jail/outer_stage.h"

namespace holdfast::sandbox {
namespace {

Plan WithoutPaths(const Plan& plan) {
  Plan bare;
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

// A directory cannot be executed. That the inner stage says so shows that everything before worked.
InnerOrders ExecuteNothing() { return {.command = {.program = "/", .argv = {"/"}, .cwd = "/"}}; }

}  // namespace

Namespaces TryNamespaces(const Bubblewrap& bubblewrap, const Plan& plan, std::optional<int> sealed_program) {
  const Plan bare = WithoutPaths(plan);
  const pid_t child = ::fork();
  if (child < 0) return Namespaces::kWork;  // which is not known, and nothing is to be done without them then
  if (child == 0) {
    const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing < 0) ::_exit(0);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, stream);
    // A failure of our own, for want of descriptors say, tells nothing about namespaces.
    const auto tried = RunOuterStage(bubblewrap, bare, ExecuteNothing(), sealed_program);
    ::_exit(!tried && tried.error().by == NotStarted::By::kBubblewrap ? 1 : 0);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 1 ? Namespaces::kDoNotWork : Namespaces::kWork;
}

}  // namespace holdfast::sandbox
