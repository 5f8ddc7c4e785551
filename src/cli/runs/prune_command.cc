#include "cli/runs/commands.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/shown_text.h"
#include "cli/connect/invocation.h"
#include "cli/runs/run_session.h"
#include "wire/encode.h"
#include "wire/methods.h"

namespace holdfast::cli {
namespace {

struct Removed {
  std::vector<std::string> names;

  void Fields(auto& f) { f.Required("removed", names); }
};

// A run with a connection is left alone: its command may be about to start, or somebody reads its output.
bool IsFinished(const wire::ListedSession& session) {
  return session.session_name && session.connections == 0 &&
         std::ranges::all_of(session.processes, [](const wire::ListedProcess& process) {
           return process.state == wire::ProcessState::kClosed;
         });
}

// The session is named by its id: another run may have got the name since it was listed.
loop::Task<Result<>> Remove(client::ExecServerClient& client, std::string session_id) {
  wire::SessionEndParams params;
  params.session_id = std::move(session_id);
  auto ended = co_await client.Call<wire::SessionEnd>(std::move(params));
  if (!ended) co_return std::unexpected(std::move(ended).error());
  co_return Result<>();
}

void PrintRemoved(const Invocation& invocation, Removed removed) {
  if (invocation.wants_json()) return PrintJson(wire::Encode(std::move(removed)));
  std::string text;
  for (const std::string& name : removed.names) text += ShownText(name) + "\n";
  Print(text);
}

loop::Task<int> Prune(Invocation& invocation) {
  auto client = co_await invocation.Connect(Invocation::Starting::kNever);
  if (!client && client.error().kind == ErrorKind::kNotFound) {
    PrintRemoved(invocation, {});
    co_return 0;
  }
  if (!client) co_return invocation.Complain(client.error());
  const auto listed = co_await client->Call<wire::SessionList>({});
  if (!listed) co_return invocation.Complain(listed.error());
  if (listed->truncated) {
    co_return invocation.Complain("the runs have too many processes for one list; end some with `holdfast kill --end`");
  }
  Removed removed;
  int status = 0;
  for (const wire::ListedSession& session : listed->sessions) {
    if (!IsFinished(session)) continue;
    if (const auto ended = co_await Remove(*client, session.session_id); !ended) {
      status = invocation.Complain(ended.error());
    } else {
      removed.names.push_back(*session.session_name);
    }
  }
  PrintRemoved(invocation, std::move(removed));
  co_return status;
}

}  // namespace

Command PruneCommand() {
  return {.name = "prune",
          .topic = Topic::kRuns,
          .summary = "Removes the runs that have ended.",
          .description =
              "The names of the removed runs are printed; their output and their exit statuses are forgotten. Runs "
              "that still go on stay, and so do those to which another command is connected at the moment.",
          .options = WithJsonOption(WithServerOptions({})),
          .examples = {{"holdfast prune", "Tidies up the list of the private server."}},
          .run = Remotely(Prune)};
}

}  // namespace holdfast::cli
