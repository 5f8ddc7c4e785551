#include "doctor/tools.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/result.h"
#include "base/sha256.h"
#include "doctor/limited_run.h"
#include "doctor/sandbox_program_run.h"
#include "sandbox/jail/bubblewrap.h"
#include "sandbox/jail/tool_search.h"
#include "sandbox/outcome.h"

namespace holdfast::doctor {
namespace {

constexpr std::chrono::seconds kVersionLimit{3};

std::string BundledPath(const Surroundings& surroundings) {
  return DirectoryOf(surroundings.program) + "/holdfast-resources/bwrap";
}

std::string Bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string FirstLine(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

// "bubblewrap 0.8.0": the second word.
std::string VersionOf(const std::string& program) {
  const RunOutcome outcome =
      RunLimited({.program = program, .arguments = {program, "--version"}, .limit = kVersionLimit});
  if (!outcome.succeeded()) return "";
  const std::string line = FirstLine(outcome.out);
  const size_t start = line.find(' ') + 1;
  return line.substr(start, line.find(' ', start) - start);
}

// 0, or what exec would say; a program with the wrong content is not found out.
int WhyNotExecutable(const std::string& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) < 0) return errno;
  if (!S_ISREG(status.st_mode)) return EACCES;
  return ::access(path.c_str(), X_OK) == 0 ? 0 : errno;
}

// Why the first bwrap on PATH is not used; empty when it is, or when there is none.
std::string WhatIsPassedOver(const Surroundings& surroundings) {
  const sandbox::ToolSearch search{.name = "bwrap",
                                   .path_variable = surroundings.path_variable,
                                   .untrusted = {&surroundings.cwd, 1},
                                   .trust = surroundings.trust};
  if (const auto distrusted = sandbox::FirstIfDistrusted(search)) {
    return fmt::format("{} is not used: {}", distrusted->path, distrusted->reason);
  }
  const auto path = sandbox::FindTool(search, [](const std::string& found) {
    return WhyNotExecutable(found) == 0 && ::access(found.c_str(), R_OK) == 0;
  });
  if (!path) return "";
  const auto missing = sandbox::MissingOptions(Bytes(*path));
  return missing.empty() ? "" : fmt::format("{} is not used: it has no {}", *path, fmt::join(missing, ", "));
}

}  // namespace

SandboxProgramReport ExamineSandboxProgram(const Surroundings& surroundings) {
  SandboxProgramReport report;
  report.path = surroundings.sandbox_program;
  const int error = WhyNotExecutable(report.path);
  const bool missing = error == ENOENT || error == ENOTDIR;
  if (error == 0) {
    report.finding.state = State::kOk;
  } else if (missing) {
    report.finding.detail =
        fmt::format("{} is missing. It is installed with holdfast, and has to be beside it.", report.path);
  } else {
    report.finding = {State::kRefused, fmt::format("{} cannot be executed: {}. The server's user must be allowed to.",
                                                   report.path, ErrnoText(error))};
  }
  return report;
}

BubblewrapReport ExamineBubblewrap(const Surroundings& surroundings) {
  BubblewrapReport report;
  // The digest is the sandbox program's affair: ExamineBundled asks it.
  const auto found = sandbox::FindBubblewrap({.path_variable = surroundings.path_variable,
                                              .untrusted = {surroundings.cwd},
                                              .trust = surroundings.trust,
                                              .own_directory = DirectoryOf(surroundings.program),
                                              .bundled_sha256 = ""});
  const std::string passed_over = WhatIsPassedOver(surroundings);
  if (!found) {
    report.finding.detail = fmt::format("{}{}{}", found.error().message, passed_over.empty() ? "" : "; ", passed_over);
    return report;
  }
  report.path = found->path;
  report.source = found->path == BundledPath(surroundings) ? "bundled" : "system";
  report.version = VersionOf(found->path);
  const auto missing = sandbox::MissingOptions(Bytes(found->path));
  report.missing_options.assign(missing.begin(), missing.end());
  report.finding = {missing.empty() ? State::kOk : State::kBroken, passed_over};
  return report;
}

BundledReport ExamineBundled(const Surroundings& surroundings) {
  BundledReport report;
  report.path = BundledPath(surroundings);
  const std::string bytes = Bytes(report.path);
  if (bytes.empty()) {
    report.finding.detail = "no such program";
    return report;
  }
  Sha256 sha;
  sha.Update(std::as_bytes(std::span(bytes)));
  report.sha256 = sha.HexDigest();
  // Without a PATH the sandbox program has no other to take. Whatever else stops it comes after the digest.
  const RunOutcome outcome = RunSandboxProgram(
      surroundings, {.sandboxed = Sandboxed(PolicyFor(Writable::kNothing, sandbox::Network::kRestricted), "/",
                                            NothingCommand(surroundings)),
                     .variables = {"PATH="}});
  const bool nobody_takes_it = outcome.kind == RunOutcome::Kind::kNotStarted || outcome.status == sandbox::kBadDigest;
  report.finding.state = nobody_takes_it ? State::kRefused : State::kOk;
  if (nobody_takes_it) report.finding.detail = FirstLine(outcome.err);
  return report;
}

}  // namespace holdfast::doctor
