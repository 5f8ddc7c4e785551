#include "doctor/report_text.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/shown_text.h"
#include "wire/field_types.h"

namespace holdfast::doctor {
namespace {

std::string_view NameOf(State state) {
  for (const auto& [name, value] : wire::EnumNames<State>::kNames) {
    if (value == state) return name;
  }
  return "";
}

// Joins the parts that are not empty with commas.
std::string Joined(std::initializer_list<std::string> parts) {
  std::vector<std::string> filled;
  std::ranges::copy_if(parts, std::back_inserter(filled), [](const std::string& part) { return !part.empty(); });
  return fmt::format("{}", fmt::join(filled, ", "));
}

std::string Joined(const std::vector<std::string>& parts) { return fmt::format("{}", fmt::join(parts, ", ")); }

// Turns a name of the JSON such as "deviceIoctl" into ordinary text such as "device ioctl".
std::string InWords(std::string_view name) {
  if (name == "landlock") return "Landlock";
  if (name == "tcpPorts") return "TCP ports";
  std::string words;
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') words += ' ';
    words += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return words;
}

std::string InWords(const std::vector<std::string>& names) {
  std::vector<std::string> words;
  words.reserve(names.size());
  for (const std::string& name : names) words.push_back(InWords(name));
  return Joined(words);
}

// The text for things that the machine has and the sandbox does not use.
constexpr char kNotUsed[] = "not used by the sandbox";

class Lines {
 public:
  void Fact(std::string_view name, std::string_view text) { Add(fmt::format("{:<18}          {}", name, text)); }
  void Thing(std::string_view name, const Finding& finding, std::string_view text) {
    const std::string all = Joined({std::string(text), finding.detail});
    Add(fmt::format("{:<18}{:<10}{}", name, NameOf(finding.state), all));
  }
  void Blank() { text_ += '\n'; }
  void Add(std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    text_ += ShownText(line) + '\n';
  }

  std::string Take() && { return std::move(text_); }

 private:
  std::string text_;
};

void AddHost(Lines& lines, const Host& host) {
  lines.Fact("kernel", Joined({host.kernel, host.wsl == 0 ? "" : fmt::format("WSL {}", host.wsl)}));
  lines.Fact("user", fmt::format("uid {}, capabilities {}", host.uid, host.capabilities));
  lines.Fact("container", Joined({host.container.empty() ? "none" : host.container,
                                  host.in_sandbox ? "inside a sandbox" : "", host.chrooted ? "in a chroot" : ""}));
}

void AddProgram(Lines& lines, std::string_view name, const ProgramReport& program) {
  lines.Thing(name, program.finding, program.finding.state == State::kOk ? program.path : "");
}

void AddTools(Lines& lines, const Report& report) {
  AddProgram(lines, "sandbox program", report.sandbox_program);
  const BubblewrapReport& bwrap = report.bubblewrap;
  lines.Thing(
      "bubblewrap", bwrap.finding,
      Joined({bwrap.path, bwrap.version, bwrap.source,
              bwrap.missing_options.empty() ? "" : fmt::format("without {}", fmt::join(bwrap.missing_options, " "))}));
  lines.Thing("bundled bwrap", report.bundled.finding,
              Joined({report.bundled.path, report.bundled.sha256.empty() ? "" : "sha256 " + report.bundled.sha256}));
  AddProgram(lines, "ripgrep", report.ripgrep);
}

void AddKernel(Lines& lines, const Report& report) {
  const NamespacesReport& spaces = report.namespaces;
  for (const auto& [name, finding] :
       {std::pair{"user namespace", &spaces.user}, std::pair{"  id map", &spaces.id_map},
        std::pair{"  mounts", &spaces.mount}, std::pair{"  ipc", &spaces.ipc}, std::pair{"  uts", &spaces.uts},
        std::pair{"  network", &spaces.network}, std::pair{"  pid", &spaces.pid},
        std::pair{"  fresh /proc", &spaces.fresh_proc}}) {
    lines.Thing(name, *finding, "");
  }
  const LandlockReport& landlock = report.landlock;
  lines.Thing("Landlock", landlock.finding,
              landlock.abi == 0 ? "" : fmt::format("ABI {}: {}", landlock.abi, InWords(landlock.covers)));
  lines.Thing("seccomp filter", report.seccomp.filter,
              report.seccomp.mode == 2 ? "this process runs under a filter" : "");
  lines.Thing("  user-notify", report.seccomp.user_notify, kNotUsed);
  const AppArmorReport& apparmor = report.apparmor;
  lines.Thing(
      "AppArmor", apparmor.finding,
      Joined({apparmor.restricts_user_namespaces == true ? "restricts user namespaces" : "", apparmor.profile}));
  const CgroupsReport& cgroups = report.cgroups;
  lines.Thing(
      "cgroups", cgroups.finding,
      Joined({cgroups.version, cgroups.delegated.empty() ? "" : "delegated: " + Joined(cgroups.delegated), kNotUsed}));
}

void AddTrial(Lines& lines, std::string_view indent, const TrialReport& trial) {
  lines.Thing(
      fmt::format("{}{}", indent, trial.name), trial.finding,
      trial.enforced_by.empty() ? "" : fmt::format("{} ({} ms)", InWords(trial.enforced_by), trial.milliseconds));
}

// The last backend, Landlock alone, is never chosen by itself.
std::string ChosenByAuto(const std::vector<TrialReport>& backends) {
  for (size_t i = 0; i + 1 < backends.size(); ++i) {
    if (backends[i].finding.state == State::kOk) return fmt::format("auto is {}", backends[i].name);
  }
  return "none that auto could choose works";
}

}  // namespace

std::string Text(const Report& report) {
  Lines lines;
  AddHost(lines, report.host);
  lines.Blank();
  AddTools(lines, report);
  lines.Blank();
  AddKernel(lines, report);
  lines.Blank();
  lines.Fact("backends", ChosenByAuto(report.backends));
  for (const TrialReport& backend : report.backends) AddTrial(lines, "  ", backend);
  lines.Blank();
  for (const TrialReport& policy : report.policies) AddTrial(lines, "", policy);
  lines.Blank();
  lines.Add(report.summary);
  return std::move(lines).Take();
}

}  // namespace holdfast::doctor
