#include "cli/local/remote_options.h"

#include <unistd.h>

#include <cstdio>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/shown_text.h"
#include "cli/text/complaint.h"
#include "exec_server/config/config_settings.h"
#include "remote/run_remote_executor.h"

namespace holdfast::cli {
namespace {

constexpr const char *kExecutorId = "--executor-id", *kEnvironmentId = "--environment-id", *kName = "--name";
constexpr int kUsageStatus = 2;

void PrintRegistration(remote::Form form, const remote::Registration& registration) {
  const std::string noun(remote::NounOf(form));
  const std::string line = fmt::format("codex exec-server remote {} {} registered with {}_id {}\n", noun,
                                       ShownText(registration.registration_id), noun, ShownText(registration.id));
  (void)std::fputs(line.c_str(), stderr);
}

// Returns the first flag about listening that the command line has; empty if it has none.
std::string ListenFlagIn(const Arguments& arguments) {
  for (const exec_server::Setting& setting : exec_server::ListenSettings()) {
    std::string flag = exec_server::FlagName(setting);
    if (arguments.Value(flag)) return flag;
  }
  return "";
}

}  // namespace

std::vector<Option> RegistrationOptions() {
  return {
      {.flag = kExecutorId, .value = "ID", .help = "register as this executor"},
      {.flag = kEnvironmentId, .value = "ID", .help = "register as this environment, once, and connect directly"},
      {.flag = kName,
       .value = "NAME",
       .help = "with --executor-id: the name that the registry gets",
       .default_value = remote::kDefaultName},
      {.flag = kCaFile,
       .value = "FILE",
       .help = "trust the certificates in this PEM file besides those of the system",
       .completes = Completes::kFile},
      {.flag = kBearerStdin,
       .help = "read the token for the registry from the first line of standard input, not from the environment"},
      {.flag = kExitOnStdinClose, .help = "stop when standard input ends"},
  };
}

std::vector<Option> RemoteOptions() {
  std::vector<Option> options = RegistrationOptions();
  for (Option& option : options) {
    if (!option.help.starts_with("with --")) option.help.insert(0, "with --remote: ");
  }
  options.insert(
      options.begin(),
      {.flag = kRemote,
       .value = "URL",
       .help = "do not listen, but register with the registry at this http or https URL and serve the clients of the "
               "rendezvous that it names. The token for the registry is read from "
               "CODEX_EXEC_SERVER_REMOTE_BEARER_TOKEN, or from the file that HOLDFAST_REMOTE_TOKEN_FILE names"});
  return options;
}

bool AsksForRemote(const Arguments& arguments) { return arguments.Value(kRemote).has_value(); }

std::optional<std::string> FaultOfRegistration(const Arguments& arguments) {
  const bool is_executor = arguments.Value(kExecutorId).has_value();
  const bool is_environment = arguments.Value(kEnvironmentId).has_value();
  if (!is_executor && !is_environment) return "--remote needs --executor-id or --environment-id";
  if (is_executor && is_environment) return "--executor-id and --environment-id exclude each other";
  return std::nullopt;
}

remote::Registrant RegistrantOf(const Arguments& arguments) {
  const bool is_direct = arguments.Value(kEnvironmentId).has_value();
  return {.form = is_direct ? remote::Form::kDirect : remote::Form::kExecutor,
          .registry_url = arguments.ValueOr(kRemote, ""),
          .id = arguments.ValueOr(is_direct ? kEnvironmentId : kExecutorId, ""),
          .name = arguments.ValueOr(kName, remote::kDefaultName)};
}

remote::OnRegistered PrinterOf(const remote::Registrant& registrant) {
  return [form = registrant.form](const remote::Registration& registration) { PrintRegistration(form, registration); };
}

Result<remote::TokenSource> TokenOf(const Arguments& arguments, remote::Form form) {
  return arguments.Has(kBearerStdin) ? remote::ReadTokenLine(STDIN_FILENO)
                                     : remote::TakeTokenSource(remote::NounOf(form));
}

int RunRemote(const Arguments& arguments, const exec_server::Config& config, const exec_server::RuntimePaths& paths) {
  if (const auto fault = FaultOfRegistration(arguments)) return ComplainOfRemoteUsage(arguments, *fault);
  if (const std::string flag = ListenFlagIn(arguments); !flag.empty()) {
    return ComplainOfRemoteUsage(arguments, fmt::format("--remote and {} exclude each other", flag));
  }
  remote::RemoteExecutorConfig remote;
  remote.server = config;
  if (const auto set = SetRegistration(arguments, remote); !set) return ComplainOfRemote(set.error());
  const auto ended = remote::RunRemoteExecutor(std::move(remote), paths);
  return ended ? 0 : ComplainOfRemote(ended.error());
}

int ComplainOfRemoteUsage(const Arguments& arguments, std::string_view fault) {
  const std::string& name = arguments.command().name;
  PrintComplaint("holdfast " + name, fmt::format("{}; see holdfast {} --help", fault, name));
  return kUsageStatus;
}

// The form of this line is a contract with programs that start an executor and read its messages.
int ComplainOfRemote(const Error& error) {
  PrintComplaint("Error", error.message);
  return 1;
}

}  // namespace holdfast::cli
