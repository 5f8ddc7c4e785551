#include "cli/runs/run_session.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "wire/methods.h"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kEndOfRun = 10s;  // for the server to end every process of a run

std::unexpected<Error> NoSuchRun(const std::string& name) {
  return Fail(ErrorKind::kNotFound, fmt::format("there is no run named {}; `holdfast ps` lists them", name));
}

loop::Task<Result<std::vector<wire::ListedSession>>> ListBy(client::ExecServerClient& client) {
  auto listed = co_await client.Call<wire::SessionList>({});
  if (!listed) co_return std::unexpected(std::move(listed).error());
  std::erase_if(listed->sessions, [](const wire::ListedSession& session) { return !session.session_name; });
  co_return std::move(listed->sessions);
}

}  // namespace

const wire::ListedProcess* MainProcessOf(const wire::ListedSession& run) {
  const auto found = std::ranges::find(run.processes, kMainProcess, &wire::ListedProcess::process_id);
  return found == run.processes.end() ? nullptr : &*found;
}

loop::Task<Result<std::vector<wire::ListedSession>>> ListRuns(Invocation& invocation) {
  auto client = co_await invocation.Connect(Invocation::Starting::kNever);
  if (!client && client.error().kind == ErrorKind::kNotFound) co_return std::vector<wire::ListedSession>();
  if (!client) co_return std::unexpected(std::move(client).error());
  co_return co_await ListBy(*client);
}

// The names are looked up first, because a connection to a shared session creates it if it does not exist.
loop::Task<Result<client::ExecServerClient>> JoinRun(Invocation& invocation, std::string name, wire::SessionRole role,
                                                     client::Approver approver) {
  auto runs = co_await ListRuns(invocation);
  if (!runs) co_return std::unexpected(std::move(runs).error());
  const auto found = std::ranges::find(*runs, name, &wire::ListedSession::session_name);
  if (found == runs->end()) co_return NoSuchRun(name);
  client::SharedSession session{.name = name, .role = role, .detached_ttl = {}};
  co_return co_await invocation.Connect(Invocation::Starting::kNever, std::move(session), std::move(approver));
}

loop::Task<uint64_t> LatestSeq(client::ExecServerClient& client) {
  wire::ProcessReadParams params;
  params.process_id = kMainProcess;
  params.after_seq = UINT64_MAX / 2;
  params.wait_ms = 0;
  const auto read = co_await client.Call<wire::ProcessRead>(std::move(params));
  co_return read && read->next_seq > 0 ? read->next_seq - 1 : 0;
}

loop::Task<Result<>> EndRun(client::ExecServerClient& client, std::string name) {
  wire::SessionEndParams params;
  params.session_name = std::move(name);
  auto ended = co_await client.Call<wire::SessionEnd>(std::move(params), {.timeout = kEndOfRun});
  if (!ended) co_return std::unexpected(std::move(ended).error());
  co_return Result<>();
}

}  // namespace holdfast::cli
