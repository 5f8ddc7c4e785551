// holdfast: one program, its jobs as subcommands.

#include <malloc.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <expected>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/version.h"
#include "debug_command.h"
#include "doctor_command.h"
#include "exec_server/config/config_file.h"
#include "exec_server/config/config_flags.h"
#include "exec_server/server.h"
#include "loop/signal_watch.h"
#include "sandbox/flags.h"
#include "sandbox/launch/become_helper.h"
#include "sandbox/outcome.h"
#include "sandbox_command.h"
#include "sys/io.h"
#include "sys/short_slices.h"

namespace holdfast {
namespace {

int Complain(const Error& error) {
  (void)std::fprintf(stderr, "holdfast: %s\n", error.message.c_str());  // nobody is left to tell if this fails
  return 1;
}

// Messages come and go by the megabyte: glibc would hand their pages back and fault them in again for each, which costs
// more than the work on them. HeapTrim gives back what is kept. One arena, because what a worker makes the loop frees.
void TuneHeap() {
  (void)::mallopt(M_TRIM_THRESHOLD, 128 << 20);
  (void)::mallopt(M_MMAP_THRESHOLD, 32 << 20);
  (void)::mallopt(M_ARENA_MAX, 1);
}

// Stdout carries the URL and nothing else.
void PrintUrl(const std::string& url) {
  if (url.empty()) return;
  (void)std::printf("%s\n", url.c_str());
  (void)std::fflush(stdout);  // a closed stdout is the caller's wish
}

int Serve(const exec_server::Config& config) {
  loop::EventLoop loop;
  auto server = exec_server::Server::Create(loop, config);
  if (!server) return Complain(server.error());
  if (config.sandbox_check) {
    (*server)->RunStartupCheck({.program = "/proc/self/exe",
                                .search_path = {},
                                .argv = {"holdfast", "doctor", "--startup"},
                                .env = process::CurrentEnvironment(),
                                .cwd = "/"});
  }
  bool stopping = false;
  loop::SignalWatch signals(loop, {SIGTERM, SIGINT}, [&](int signal) {
    // The second one is meant: keepers notice our end and clean up without us.
    if (std::exchange(stopping, true)) std::_Exit(128 + signal);
    (*server)->Shutdown();
  });
  PrintUrl((*server)->url());
  sys::raw::AskForShortSlices();
  loop.Run();
  return 0;
}

// Returns only when there is no helper.
int RunAsHelper(int argc, char** argv) {
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  return sandbox::Conclude(sandbox::CalledAs(argc, argv), std::unexpected(sandbox::BecomeHelper(argv)),
                           sandbox::FindReportFd(words));
}

int RunExecServer(const exec_server::ConfigFlags& flags) {
  auto config = flags.Load();
  if (!config) return Complain(config.error());
  if (flags.print_config()) {
    (void)std::fputs(exec_server::PrintConfig(*config).c_str(), stdout);
    return 0;
  }
  InitLog(*ParseLogLevel(config->log_level), *ParseLogFormat(config->log_format));
  return Serve(*config);
}

}  // namespace
}  // namespace holdfast

int main(int argc, char** argv) {
  if (holdfast::sandbox::IsHelperName(holdfast::sandbox::CalledAs(argc, argv))) {
    return holdfast::RunAsHelper(argc, argv);
  }
  holdfast::TuneHeap();
  // A broken pipe, and a file beyond the limit on its size, is a write that fails.
  (void)std::signal(SIGPIPE, SIG_IGN);
  (void)std::signal(SIGXFSZ, SIG_IGN);
  if (auto reserved = holdfast::sys::ReserveLowFds(); !reserved) return holdfast::Complain(reserved.error());
  CLI::App app{"Runs commands for agents without trusting them.", "holdfast"};
  app.set_version_flag("--version", std::string("holdfast ") + holdfast::kVersion);
  app.require_subcommand(1);
  CLI::App* exec_server = app.add_subcommand("exec-server", "Serves processes over WebSocket, a unix socket or stdio.");
  holdfast::exec_server::ConfigFlags flags(*exec_server);
  CLI::App* sandbox = app.add_subcommand("sandbox", "Runs one command under a policy.");
  const holdfast::SandboxCommand sandbox_command(*sandbox);
  CLI::App* debug = app.add_subcommand("debug", "Commands under the names that codex has for them.");
  const holdfast::DebugCommand debug_command(*debug);
  CLI::App* doctor = app.add_subcommand("doctor", "Says whether the sandbox works on this machine.");
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
