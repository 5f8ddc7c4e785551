#include "cli/local/remote_options.h"

#include <cstdio>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "remote/run_remote_executor.h"

namespace holdfast::cli {
namespace {

constexpr const char *kRemote = "--remote", *kExecutorId = "--executor-id", *kEnvironmentId = "--environment-id";
constexpr const char *kName = "--name", *kCaFile = "--ca-file", *kExitOnStdinClose = "--exit-on-stdin-close";
constexpr int kUsageStatus = 2;

int ComplainOfUsage(const char* fault) {
  (void)std::fprintf(stderr, "holdfast exec-server: %s; see holdfast exec-server --help\n", fault);
  return kUsageStatus;
}

// The form of this line is a contract with programs that start an executor and read its messages.
int ComplainOf(const Error& error) {
  (void)std::fprintf(stderr, "Error: %s\n", error.message.c_str());
  return 1;
}

void PrintRegistration(remote::Form form, const remote::Registration& registration) {
  const std::string noun(remote::NounOf(form));
  const std::string line =
      fmt::format("codex exec-server remote {} {} registered with {}_id {}\n", noun,
                  remote::Shown(registration.registration_id), noun, remote::Shown(registration.id));
  (void)std::fputs(line.c_str(), stderr);
}

remote::RemoteExecutorConfig ConfigOf(const Arguments& arguments, const exec_server::Config& config) {
  remote::RemoteExecutorConfig remote;
  const bool is_direct = arguments.Value(kEnvironmentId).has_value();
  remote.registrant.form = is_direct ? remote::Form::kDirect : remote::Form::kExecutor;
  remote.registrant.registry_url = arguments.ValueOr(kRemote, "");
  remote.registrant.id = arguments.ValueOr(is_direct ? kEnvironmentId : kExecutorId, "");
  remote.registrant.name = arguments.ValueOr(kName, remote::kDefaultName);
  remote.ca_file = arguments.ValueOr(kCaFile, "");
  remote.server = config;
  remote.on_registered = [form = remote.registrant.form](const remote::Registration& registration) {
    PrintRegistration(form, registration);
  };
  if (arguments.Has(kExitOnStdinClose)) remote.end_of_input = remote::RemoteExecutorConfig::EndOfInput::kStops;
  return remote;
}

}  // namespace

std::vector<Option> RemoteOptions() {
  return {
      {.flag = kRemote,
       .value = "URL",
       .help = "do not listen, but register with the registry at this http or https URL and serve the clients of the "
               "rendezvous that it names. The token for the registry is read from "
               "CODEX_EXEC_SERVER_REMOTE_BEARER_TOKEN, or from the file that HOLDFAST_REMOTE_TOKEN_FILE names"},
      {.flag = kExecutorId, .value = "ID", .help = "with --remote: register as this executor"},
      {.flag = kEnvironmentId,
       .value = "ID",
       .help = "with --remote: register as this environment, once, and connect directly"},
      {.flag = kName,
       .value = "NAME",
       .help = "with --executor-id: the name that the registry is told",
       .default_value = remote::kDefaultName},
      {.flag = kCaFile,
       .value = "FILE",
       .help = "with --remote: trust the certificates in this PEM file besides those of the system",
       .completes = Completes::kFile},
      {.flag = kExitOnStdinClose, .help = "with --remote: stop when standard input ends"},
  };
}

bool AsksForRemote(const Arguments& arguments) { return arguments.Value(kRemote).has_value(); }

int RunRemote(const Arguments& arguments, const exec_server::Config& config, const exec_server::RuntimePaths& paths) {
  const bool is_executor = arguments.Value(kExecutorId).has_value();
  const bool is_environment = arguments.Value(kEnvironmentId).has_value();
  if (!is_executor && !is_environment) return ComplainOfUsage("--remote needs --executor-id or --environment-id");
  if (is_executor && is_environment) return ComplainOfUsage("--executor-id and --environment-id exclude each other");
  if (arguments.Value("--listen")) return ComplainOfUsage("--remote and --listen exclude each other");
  remote::RemoteExecutorConfig remote = ConfigOf(arguments, config);
  auto token = remote::TakeTokenSource(remote::NounOf(remote.registrant.form));
  if (!token) return ComplainOf(token.error());
  remote.token = *std::move(token);
  const auto ended = remote::RunRemoteExecutor(std::move(remote), paths);
  return ended ? 0 : ComplainOf(ended.error());
}

}  // namespace holdfast::cli
