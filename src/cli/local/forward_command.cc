#include "cli/local/commands.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "cli/local/remote_options.h"
#include "cli/table/arguments.h"
#include "remote/run_forwarder.h"
#include "transport/dial_url.h"

namespace holdfast::cli {
namespace {

constexpr const char *kConnect = "--connect", *kConnectTokenFile = "--connect-token-file";
constexpr const char *kLogLevel = "--log-level", *kLogFormat = "--log-format";

std::vector<Option> Options() {
  std::vector<Option> options = {
      {.flag = kConnect,
       .value = "URL",
       .help = "the server to offer: ws://HOST:PORT, wss://HOST:PORT or unix:///PATH",
       .secret = Option::Secret::kPathOfUrl},
      {.flag = kConnectTokenFile,
       .value = "FILE",
       .help = "file with the bearer token that the server asks for; it is read for each connection",
       .completes = Completes::kFile},
      {.flag = kRemote,
       .value = "URL",
       .help = "register with the registry at this http or https URL, and serve the clients of the rendezvous that it "
               "names. The token for the registry is read from CODEX_EXEC_SERVER_REMOTE_BEARER_TOKEN, or from the file "
               "that HOLDFAST_REMOTE_TOKEN_FILE names"},
  };
  for (Option& option : RegistrationOptions()) {
    if (option.flag == kCaFile) option.help += "; for the registry, the rendezvous and the server";
    options.push_back(std::move(option));
  }
  options.push_back({.flag = kLogLevel,
                     .value = "LEVEL",
                     .help = "the least severe level that is logged",
                     .choices = {"debug", "info", "warn", "error", "off"},
                     .default_value = "info"});
  options.push_back({.flag = kLogFormat,
                     .value = "FORMAT",
                     .help = "the format of log lines",
                     .choices = {"text", "json"},
                     .default_value = "text"});
  return options;
}

int Run(const Arguments& arguments) {
  const auto connect = arguments.Value(kConnect);
  if (!connect) return ComplainOfRemoteUsage(arguments, "--connect is required");
  if (!arguments.Value(kRemote)) return ComplainOfRemoteUsage(arguments, "--remote is required");
  if (const auto fault = FaultOfRegistration(arguments)) return ComplainOfRemoteUsage(arguments, *fault);
  auto server = transport::ParseServerUrl(*connect);
  if (!server) return ComplainOfRemoteUsage(arguments, server.error().message);
  remote::ForwarderConfig config;
  config.target = {.server = *std::move(server),
                   .token_file = arguments.ValueOr(kConnectTokenFile, ""),
                   .ca_file = arguments.ValueOr(kCaFile, "")};
  config.log_level = arguments.ValueOr(kLogLevel, config.log_level);
  config.log_format = arguments.ValueOr(kLogFormat, config.log_format);
  if (const auto set = SetRegistration(arguments, config); !set) return ComplainOfRemote(set.error());
  const auto ended = remote::RunForwarder(std::move(config));
  return ended ? 0 : ComplainOfRemote(ended.error());
}

}  // namespace

Command ForwardCommand() {
  return {
      .name = "exec-server forward",
      .topic = Topic::kServers,
      .summary = "Offers an exec-server that runs already to the clients of a rendezvous.",
      .description =
          "The command registers with a registry as an executor. For each client that reaches it through the "
          "rendezvous, it connects to the server and passes whole messages both ways. When one side ends, the other "
          "is closed. A client whose server cannot be reached is closed, too.\n\n"
          "The server does not know that its clients come through a rendezvous: their sessions survive a lost "
          "connection for as long as it keeps sessions without a connection (--detached-ttl-ms).",
      .options = Options(),
      .examples = {{"holdfast exec-server forward --connect unix:///run/a.sock --remote https://hub --executor-id b7",
                    "Offers the server on a unix socket as the executor b7."}},
      .exit_statuses = {{"0", "a signal has stopped the command"},
                        {"1", "the registry or the rendezvous has refused the executor"},
                        {"2", "the options do not fit together"}},
      .run = Run};
}

}  // namespace holdfast::cli
