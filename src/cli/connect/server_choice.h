// The server that a command talks to: the one that --server names, else that of $HOLDFAST_SERVER, else the user's
// private server. $HOLDFAST_TOKEN_FILE belongs to $HOLDFAST_SERVER: its token is sent to no other server.
#pragma once

#include <string>
#include <vector>

#include "cli/table/arguments.h"
#include "cli/table/command.h"

namespace holdfast::cli {

struct ServerChoice {
  enum class Source { kOption, kEnvironment, kPrivate };

  std::string url = {};  // empty for a private server that has no directory, which cannot be used
  std::string ca_file;
  std::string token_file;  // empty if the server asks for no token
  Source source = Source::kPrivate;

  // Returns whether the server certainly runs on this machine, so that paths and environment variables mean the same
  // there. A port of this machine may lead to another one.
  bool is_local() const { return url.starts_with("unix:"); }
  // Returns whether the server is an executor that a rendezvous connects to.
  bool is_executor() const { return url.contains("/executors/"); }
};

ServerChoice ChooseServer(const Arguments& arguments);

// Returns `options` with those that every command has that talks to a server.
std::vector<Option> WithServerOptions(std::vector<Option> options);

// Returns `options` with --json, for a command that prints something of its own. A command that prints nothing, or what
// another program has written, has no such option.
std::vector<Option> WithJsonOption(std::vector<Option> options,
                                   std::string help = "print JSON for programs instead of text for people");

// Returns what a user can do when the server cannot be reached; empty if the error itself says enough.
std::string Advice(const ServerChoice& choice);

}  // namespace holdfast::cli
