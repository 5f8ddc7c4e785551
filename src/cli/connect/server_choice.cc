#include "cli/connect/server_choice.h"

#include <utility>

#include "base/environment_variable.h"
#include "runtime_dir/runtime_dir.h"

namespace holdfast::cli {

ServerChoice ChooseServer(const Arguments& arguments) {
  using Source = ServerChoice::Source;
  ServerChoice choice{.ca_file = arguments.ValueOr("--ca-file", ""),
                      .token_file = arguments.ValueOr("--token-file", "")};
  const std::string from_environment = EnvironmentVariable("HOLDFAST_SERVER").value_or("");
  if (const auto url = arguments.Value("--server")) {
    choice.url = *url;
    choice.source = Source::kOption;
  } else if (!from_environment.empty()) {
    choice.url = from_environment;
    choice.source = Source::kEnvironment;
    if (choice.token_file.empty()) choice.token_file = EnvironmentVariable("HOLDFAST_TOKEN_FILE").value_or("");
  } else if (const auto directory = runtime_dir::FindRuntimeDir()) {
    choice.url = directory->url();
  }
  return choice;
}

std::vector<Option> WithServerOptions(std::vector<Option> options) {
  options.push_back({.flag = "--server",
                     .value = "URL",
                     .help =
                         "the server: ws://HOST:PORT, wss://HOST:PORT or unix:///PATH, or an executor of a "
                         "rendezvous: https://HOST/executors/ID (default: $HOLDFAST_SERVER, else a private server "
                         "of this user, which is started on demand). Other users may see the arguments of a command "
                         "when it starts; they never see $HOLDFAST_SERVER",
                     .secret = Option::Secret::kPathOfUrl});
  options.push_back({.flag = "--ca-file",
                     .value = "FILE",
                     .help = "PEM file with further root certificates for wss:// and https://",
                     .completes = Completes::kFile});
  options.push_back(
      {.flag = "--token-file",
       .value = "FILE",
       .help =
           "file with the bearer token that the server or the rendezvous asks for (default: $HOLDFAST_TOKEN_FILE, for "
           "the server of $HOLDFAST_SERVER)",
       .completes = Completes::kFile});
  return options;
}

std::vector<Option> WithJsonOption(std::vector<Option> options, std::string help) {
  options.push_back({.flag = "--json", .help = std::move(help)});
  return options;
}

std::string Advice(const ServerChoice& choice) {
  if (choice.is_executor()) return {};
  switch (choice.source) {
    case ServerChoice::Source::kOption:
      return "start one with `holdfast exec-server`, or leave --server out";
    case ServerChoice::Source::kEnvironment:
      return "start one with `holdfast exec-server`, or unset HOLDFAST_SERVER";
    case ServerChoice::Source::kPrivate:
      if (const auto directory = runtime_dir::FindRuntimeDir()) return "its log is " + directory->log();
      return {};
  }
  return {};
}

}  // namespace holdfast::cli
