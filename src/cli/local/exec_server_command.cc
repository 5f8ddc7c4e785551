#include "cli/local/commands.h"

#include <malloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <ranges>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/log.h"
#include "cli/local/remote_options.h"
#include "cli/table/arguments.h"
#include "cli/text/complaint.h"
#include "exec_server/config/config_file.h"
#include "exec_server/config/config_flags.h"
#include "exec_server/run_exec_server.h"

namespace holdfast::cli {
namespace {

int Complain(const Error& error) {
  PrintComplaint("holdfast", error.message);
  return error.kind == ErrorKind::kInvalidParams ? kWrongUse : 1;
}

// Sets how glibc keeps freed memory. Messages may have many megabytes: by default glibc would return the pages of each
// one to the kernel and fault them in again for the next, which costs more than the work on the message. HeapTrim
// returns the kept pages later. There is one arena, because the loop frees the memory that a worker has allocated.
void TuneHeap() {
  (void)::mallopt(M_TRIM_THRESHOLD, 128 << 20);
  (void)::mallopt(M_MMAP_THRESHOLD, 32 << 20);
  (void)::mallopt(M_ARENA_MAX, 1);
}

// A secret is the path of the URL: ws://IP:PORT/SECRET. The path of a socket is not one.
bool HasSecret(const std::string& url) {
  const size_t host = url.find("://") + 3;
  return url.starts_with("ws") && url.find('/', host) < url.size() - 1;
}

// Returns why others could read what standard output gets; empty if they could not. The commands that the server runs
// may read nearly every file of its user.
std::string_view ReadersOfStandardOutput() {
  struct stat status{};
  if (::fstat(STDOUT_FILENO, &status) < 0) return "";
  if (S_ISREG(status.st_mode)) return "standard output is a file, which commands could read";
  const bool is_open = (status.st_mode & (S_IRGRP | S_IROTH)) != 0;
  return S_ISFIFO(status.st_mode) && is_open ? "standard output is a FIFO that other users may read" : "";
}

void WarnOfReadableUrl(const std::string& url) {
  const std::string_view readers = ReadersOfStandardOutput();
  if (readers.empty() || !HasSecret(url)) return;
  LogWarn("url.readable", {{"reason", readers}, {"remedy", "use --url-file"}});
}

// The URL is the only thing that a server prints to standard output, so that a program can read it from there.
void PrintUrl(const std::string& url) {
  WarnOfReadableUrl(url);
  (void)std::printf("%s\n", url.c_str());
  (void)std::fflush(stdout);  // a caller that has closed standard output does not want the URL
}

int RunExecServer(const Arguments& arguments) {
  const auto config = exec_server::LoadConfig([&](std::string_view flag) { return arguments.Value(flag); });
  if (!config) return Complain(config.error());
  if (arguments.Has(exec_server::kPrintConfigFlag)) {
    (void)std::fputs(exec_server::PrintConfig(*config).c_str(), stdout);
    return 0;
  }
  TuneHeap();
  exec_server::RuntimePaths paths;
  paths.holdfast = "/proc/self/exe";
  if (AsksForRemote(arguments)) return RunRemote(arguments, *config, paths);
  const exec_server::OnListening print = config->url_file.empty() ? exec_server::OnListening(PrintUrl) : nullptr;
  const auto ended = exec_server::RunExecServer(*config, paths, print);
  return ended ? 0 : Complain(ended.error());
}

// Returns the option of a setting. The server checks the values, so that the same rules hold for a flag and for a key
// of the file.
Option OptionOf(const exec_server::Setting& setting) {
  Option option{.flag = exec_server::FlagName(setting),
                .help = std::string(setting.help),
                .default_value = exec_server::DefaultText(setting)};
  if (std::holds_alternative<exec_server::Toggle>(setting.kind)) {
    option.takes = Option::Takes::kToggle;
    return option;
  }
  option.takes = Option::Takes::kValue;
  option.value = "N";
  if (const auto* text = std::get_if<exec_server::Text>(&setting.kind)) {
    option.value = "TEXT";
    for (const auto choice : text->choices | std::views::split('|'))
      option.choices.emplace_back(choice.begin(), choice.end());
  } else {
    option.help = exec_server::HelpText(setting);  // with the range
  }
  return option;
}

std::vector<Option> Options() {
  std::vector<Option> options = {
      {.flag = std::string(exec_server::kConfigFlag),
       .value = "FILE",
       .help = "read settings from a TOML file; a flag overrides the setting in the file",
       .completes = Completes::kFile},
      {.flag = std::string(exec_server::kPrintConfigFlag),
       .help = "print all settings as TOML, with the file and the flags applied, and exit"},
  };
  for (const Option& option : RemoteOptions()) options.push_back(option);
  for (const exec_server::Setting& setting : exec_server::Settings()) options.push_back(OptionOf(setting));
  return options;
}

}  // namespace

Command ExecServerCommand() {
  return {.name = "exec-server",
          .topic = Topic::kServers,
          .summary = "Serves processes, files and HTTP requests over WebSocket, a unix socket or stdio.",
          .description =
              "The server prints its URL to standard output, or writes it into the file of --url-file, and logs to "
              "standard error. SIGTERM and SIGINT stop it, with every process that it has started.",
          .options = Options(),
          .examples = {{"holdfast exec-server",
                        "Serves on a free port of this machine and prints the URL with its secret."},
                       {"holdfast exec-server --listen unix:///run/user/1000/hf.sock", "Serves on a unix socket."},
                       {"holdfast exec-server --remote https://registry.example.org --executor-id build-7",
                        "Serves the clients that reach this machine through a rendezvous."},
                       {"holdfast exec-server --print-config > server.toml", "Writes a file with every setting."}},
          .exit_statuses = {{"0", "a signal has stopped the server"},
                            {"1", "the server could not start, or a registry has refused it"},
                            {"2", "the command line or the file with settings is wrong"}},
          .run = RunExecServer};
}

}  // namespace holdfast::cli
