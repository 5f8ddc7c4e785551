#include "doctor/tools.h"

#include <array>
#include <chrono>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/sha256.h"
#include "doctor/helper_run.h"
#include "doctor/limited_run.h"
#include "sandbox/bubblewrap.h"
#include "sandbox/ripgrep.h"

namespace holdfast::doctor {
namespace {

constexpr std::chrono::milliseconds kVersionLimit{500};
constexpr int kBadDigestStatus = 8;  // of the helper

// Not in every version that is in use. The first two are needed, the others make things simpler.
constexpr std::array<std::string_view, 6> kOptions = {"--perms", "--as-pid-1",   "--json-status-fd",
                                                      "--argv0", "--ro-bind-fd", "--disable-userns"};

std::string BundledPath(const Surroundings& surroundings) {
  return DirectoryOf(surroundings.program) + "/holdfast-resources/bwrap";
}

std::string Bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string FirstLine(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

// "bubblewrap 0.8.0", "ripgrep 13.0.0 (rev ...)": the second word.
std::string VersionOf(const std::string& program, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), program);
  const RunOutcome outcome =
      RunLimited({.program = program, .arguments = std::move(arguments), .limit = kVersionLimit});
  if (!outcome.succeeded()) return "";
  const std::string line = FirstLine(outcome.out);
  const size_t start = line.find(' ') + 1;
  return line.substr(start, line.find(' ', start) - start);
}

}  // namespace

BubblewrapReport ExamineBubblewrap(const Surroundings& surroundings) {
  BubblewrapReport report;
  // The digest is the helper's affair: ExamineBundled asks it.
  const auto found = sandbox::FindBubblewrap({.path_variable = surroundings.path_variable,
                                              .cwd = surroundings.cwd,
                                              .own_directory = DirectoryOf(surroundings.program),
                                              .bundled_sha256 = ""});
  if (!found) {
    report.finding.detail = found.error().message;
    return report;
  }
  report.finding.state = State::kOk;
  report.path = found->path;
  report.source = found->path == BundledPath(surroundings) ? "bundled" : "system";
  report.version = VersionOf(found->path, {"--version"});
  const std::string text = Bytes(found->path);
  for (const std::string_view option : kOptions) {
    if (text.contains(std::string(option) + '\0')) report.options.emplace_back(option);
  }
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
  // Without a PATH the helper has no other to take. Whatever else stops it comes after the digest.
  const RunOutcome outcome = RunHelper(surroundings, {.profile = Profile(Writable::kNothing, Net::kRestricted),
                                                      .workspace = "/",
                                                      .variables = {"PATH="},
                                                      .command = NothingCommand(surroundings)});
  report.finding.state = outcome.status == kBadDigestStatus ? State::kRefused : State::kOk;
  if (report.finding.state == State::kRefused) report.finding.detail = FirstLine(outcome.err);
  return report;
}

RipgrepReport ExamineRipgrep(const Surroundings& surroundings) {
  RipgrepReport report;
  const std::array untrusted = {surroundings.cwd};
  const auto program = sandbox::FindRipgrep(surroundings.path_variable, untrusted);
  if (!program) {
    report.finding.detail = "patterns are searched for by holdfast itself";
    return report;
  }
  report.finding.state = State::kOk;
  report.path = *program;
  report.version = VersionOf(*program, {"--no-config", "--version"});
  return report;
}

}  // namespace holdfast::doctor
