// The program `holdfast`: it reads the command line and runs one of its subcommands.

#include <malloc.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <expected>
#include <string_view>
#include <vector>

#include "base/version.h"
#include "debug_command.h"
#include "doctor_command.h"
#include "exec_server/config/config_file.h"
#include "exec_server/config/config_flags.h"
#include "exec_server/run_exec_server.h"
#include "sandbox/flags.h"
#include "sandbox/launch/become_helper.h"
#include "sandbox/outcome.h"
#include "sandbox_command.h"
#include "sys/io.h"

namespace holdfast {
namespace {

int Complain(const Error& error) {
  (void)std::fprintf(stderr, "holdfast: %s\n",
                     error.message.c_str());  // if this fails, there is no other way to tell the user
  return 1;
}

// Sets how glibc keeps freed memory. Messages may have many megabytes: by default glibc would return the pages of each
// one to the kernel and fault them in again for the next, which costs more than the work on the message. HeapTrim
// returns the kept pages later. There is one arena, because the loop frees the memory that a worker has allocated.
void TuneHeap() {
  (void)::mallopt(M_TRIM_THRESHOLD, 128 << 20);
  (void)::mallopt(M_MMAP_THRESHOLD, 32 << 20);
  (void)::mallopt(M_ARENA_MAX, 1);
}

// The URL is the only thing that a server prints to standard output, so that a program can read it from there.
void PrintUrl(const std::string& url) {
  (void)std::printf("%s\n", url.c_str());
  (void)std::fflush(stdout);  // a caller that has closed standard output does not want the URL
}

// Executes the helper with the given arguments. Returns the exit status, only if the helper cannot be executed.
int RunAsHelper(int argc, char** argv) {
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  return sandbox::Conclude(sandbox::CalledAs(argc, argv), std::unexpected(sandbox::BecomeHelper(argv)),
                           sandbox::FindReportFd(arguments));
}

int RunExecServer(const exec_server::ConfigFlags& flags) {
  auto config = flags.Load();
  if (!config) return Complain(config.error());
  if (flags.print_config()) {
    (void)std::fputs(exec_server::PrintConfig(*config).c_str(), stdout);
    return 0;
  }
  exec_server::RuntimePaths paths;
  paths.holdfast = "/proc/self/exe";
  const auto ended = exec_server::RunExecServer(*config, paths, PrintUrl);
  return ended ? 0 : Complain(ended.error());
}

}  // namespace
}  // namespace holdfast

int main(int argc, char** argv) {
  if (holdfast::sandbox::IsHelperName(holdfast::sandbox::CalledAs(argc, argv))) {
    return holdfast::RunAsHelper(argc, argv);
  }
  holdfast::TuneHeap();
  // With these signals ignored, a write to a broken pipe or beyond the limit on a file's size fails with an error
  // instead of ending the program.
  (void)std::signal(SIGPIPE, SIG_IGN);
  (void)std::signal(SIGXFSZ, SIG_IGN);
  if (auto reserved = holdfast::sys::ReserveLowFds(); !reserved) return holdfast::Complain(reserved.error());
  CLI::App app{"Runs commands and file operations for coding agents without trusting them.", "holdfast"};
  app.set_version_flag("--version", std::string("holdfast ") + holdfast::kVersion);
  app.require_subcommand(1);
  CLI::App* exec_server = app.add_subcommand(
      "exec-server", "Serves processes, files and HTTP requests over WebSocket, a unix socket or stdio.");
  holdfast::exec_server::ConfigFlags flags(*exec_server);
  CLI::App* sandbox = app.add_subcommand("sandbox", "Runs one command in a sandbox.");
  const holdfast::SandboxCommand sandbox_command(*sandbox);
  CLI::App* debug = app.add_subcommand("debug", "Offers features under the names that they have in codex.");
  const holdfast::DebugCommand debug_command(*debug);
  CLI::App* doctor = app.add_subcommand("doctor", "Tells whether the sandbox works on this machine, and why not.");
  const holdfast::DoctorCommand doctor_command(*doctor);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 1;
  }
  if (debug->parsed()) return debug_command.Run();
  if (doctor->parsed()) return doctor_command.Run();
  return sandbox->parsed() ? sandbox_command.Run() : holdfast::RunExecServer(flags);
}
