#include "cli/remote/server_choice.h"

#include <utility>

#include "base/environment_variable.h"
#include "cli/private_server/runtime_dir.h"

namespace holdfast::cli {

ServerChoice ChooseServer(const Arguments& arguments) {
  using Source = ServerChoice::Source;
  const std::string ca_file = arguments.ValueOr("--ca-file", "");
  if (const auto url = arguments.Value("--server")) return {*url, ca_file, Source::kOption};
  const std::string from_environment = EnvironmentVariable("HOLDFAST_SERVER").value_or("");
  if (!from_environment.empty()) return {from_environment, ca_file, Source::kEnvironment};
  return {FindRuntimeDir().url(), ca_file, Source::kPrivate};
}

std::vector<Option> WithServerOptions(std::vector<Option> options) {
  options.push_back({.flag = "--server",
                     .value = "URL",
                     .help = "the server: ws://HOST:PORT, wss://HOST:PORT or unix:///PATH (default: $HOLDFAST_SERVER, "
                             "else a private server of this user, which is started on demand)"});
  options.push_back({.flag = "--ca-file",
                     .value = "FILE",
                     .help = "PEM file with further root certificates for wss://",
                     .completes = Completes::kFile});
  return options;
}

std::vector<Option> WithJsonOption(std::vector<Option> options, std::string help) {
  options.push_back({.flag = "--json", .help = std::move(help)});
  return options;
}

std::string Advice(const ServerChoice& choice) {
  switch (choice.source) {
    case ServerChoice::Source::kOption:
      return "start one with `holdfast exec-server`, or leave --server out";
    case ServerChoice::Source::kEnvironment:
      return "start one with `holdfast exec-server`, or unset HOLDFAST_SERVER";
    case ServerChoice::Source::kPrivate:
      return "its log is " + FindRuntimeDir().log();
  }
  return {};
}

}  // namespace holdfast::cli
