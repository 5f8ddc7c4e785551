// The options by which `holdfast exec-server` connects to a rendezvous instead of listening, and those by which any
// command registers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/table/arguments.h"
#include "cli/table/command.h"
#include "exec_server/config/config.h"
#include "exec_server/runtime_paths.h"
#include "remote/end_of_input_watch.h"
#include "remote/executor.h"
#include "remote/registrant.h"
#include "remote/token.h"

namespace holdfast::cli {

inline constexpr const char *kRemote = "--remote", *kCaFile = "--ca-file", *kExitOnStdinClose = "--exit-on-stdin-close",
                            *kBearerStdin = "--registration-bearer-stdin";

// Returns --remote and the options of a registration.
std::vector<Option> RemoteOptions();
// Returns the options that say as what a command registers, and how.
std::vector<Option> RegistrationOptions();

// Returns whether the command line asks for a rendezvous.
bool AsksForRemote(const Arguments& arguments);

// Serves the clients of a rendezvous, and returns the exit status.
int RunRemote(const Arguments& arguments, const exec_server::Config& config, const exec_server::RuntimePaths& paths);

// Returns what is wrong with the options of a registration.
std::optional<std::string> FaultOfRegistration(const Arguments& arguments);

remote::Registrant RegistrantOf(const Arguments& arguments);
// Returns a function that prints a line about each registration to standard error.
remote::OnRegistered PrinterOf(const remote::Registrant& registrant);

// Returns the token for the registry: a line of standard input if the command line says so, else from the environment.
// No other thread may read the environment meanwhile.
Result<remote::TokenSource> TokenOf(const Arguments& arguments, remote::Form form);

// Fills in what the configuration of an executor and of a forwarder have in common. Takes the token out of the
// environment.
template <typename Config>
Result<> SetRegistration(const Arguments& arguments, Config& config) {
  config.registrant = RegistrantOf(arguments);
  config.on_registered = PrinterOf(config.registrant);
  config.ca_file = arguments.ValueOr(kCaFile, "");
  if (arguments.Has(kExitOnStdinClose)) config.end_of_input = remote::EndOfInput::kStops;
  TRY(config.token, TokenOf(arguments, config.registrant.form));
  return {};
}

// These print one line to standard error, and return the exit status.
int ComplainOfRemoteUsage(const Arguments& arguments, std::string_view fault);
int ComplainOfRemote(const Error& error);

}  // namespace holdfast::cli
