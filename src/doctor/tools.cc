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
#include "sandbox/bubblewrap/bubblewrap.h"
#include "sandbox/bubblewrap/tool_search.h"
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

// Runs the program with --version and returns the second word of its output, such as "0.8.0" of "bubblewrap 0.8.0".
std::string VersionOf(const std::string& program) {
  const RunOutcome outcome =
      RunLimited({.program = program, .arguments = {program, "--version"}, .limit = kVersionLimit});
  if (!outcome.succeeded()) return "";
  const std::string line = FirstLine(outcome.out);
  const size_t start = line.find(' ') + 1;
  return line.substr(start, line.find(' ', start) - start);
}

// Returns 0, or the errno with which executing the file would fail. The content of the file is not checked.
int WhyNotExecutable(const std::string& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) < 0) return errno;
  if (!S_ISREG(status.st_mode)) return EACCES;
  return ::access(path.c_str(), X_OK) == 0 ? 0 : errno;
}

// Returns the reason why the first bwrap on PATH is not used, or an empty text if it is used or there is none.
std::string WhyFirstIsNotUsed(const Surroundings& surroundings) {
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

// `if_missing` and `remedy` continue a sentence that begins with the path.
ProgramReport ExamineProgram(const std::string& path, std::string_view if_missing, std::string_view remedy) {
  const int error = WhyNotExecutable(path);
  if (error == 0) return {{State::kOk}, path};
  if (error == ENOENT || error == ENOTDIR) return {{State::kMissing, fmt::format("{} {}", path, if_missing)}, path};
  return {{State::kRefused, fmt::format("{} cannot be executed: {}. {}", path, ErrnoText(error), remedy)}, path};
}

}  // namespace

ProgramReport ExamineSandboxProgram(const Surroundings& surroundings) {
  return ExamineProgram(surroundings.sandbox_program,
                        "is missing. It is installed with holdfast and must be in the same directory.",
                        "Allow the server's user to execute it.");
}

ProgramReport ExamineRipgrep(const Surroundings& surroundings) {
  return ExamineProgram(
      surroundings.ripgrep,
      "is missing, so commands find no rg unless their own PATH has one. Install the package ripgrep.",
      "Allow the server's user to execute it, or install the package ripgrep again.");
}

BubblewrapReport ExamineBubblewrap(const Surroundings& surroundings) {
  BubblewrapReport report;
  // The digest of the bundled bubblewrap is not compared here, because only the helper knows it; ExamineBundled has the
  // helper compare it.
  const auto found = sandbox::FindBubblewrap({.path_variable = surroundings.path_variable,
                                              .untrusted = {surroundings.cwd},
                                              .trust = surroundings.trust,
                                              .own_directory = DirectoryOf(surroundings.program),
                                              .bundled_sha256 = ""});
  const std::string passed_over = WhyFirstIsNotUsed(surroundings);
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
  // With an empty PATH the helper can use no other bubblewrap. It compares the digest before anything else can fail.
  auto sandboxed =
      Sandboxed(PolicyFor(Writable::kNothing, sandbox::Network::kRestricted), "/", NothingCommand(surroundings));
  sandboxed.backend = sandbox::Backend::kBubblewrap;
  const RunOutcome outcome =
      RunSandboxProgram(surroundings, {.sandboxed = std::move(sandboxed), .variables = {"PATH="}});
  const bool refused = outcome.kind == RunOutcome::Kind::kNotStarted || outcome.status == sandbox::kBadDigest;
  report.finding.state = refused ? State::kRefused : State::kOk;
  if (refused) report.finding.detail = FirstLine(outcome.err);
  return report;
}

}  // namespace holdfast::doctor
