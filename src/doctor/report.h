// The doctor's report is everything that an examination of this machine has found. Fields() define the JSON of
// `holdfast doctor --json`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "doctor/finding.h"
#include "doctor/kernel_report.h"

namespace holdfast::doctor {

// A program that has a fixed place: the helper, or ripgrep.
struct ProgramReport {
  Finding finding;
  std::string path;

  void Fields(auto& f) {
    finding.Fields(f);
    f.Required("path", path);
  }
};

struct BubblewrapReport {
  Finding finding;
  std::string path, source, version;         // the source is "system" or "bundled"
  std::vector<std::string> missing_options;  // options that plans need and this bubblewrap does not have

  void Fields(auto& f) {
    finding.Fields(f);
    f.Required("path", path);
    f.Required("source", source);
    f.Required("version", version);
    f.Required("missingOptions", missing_options);
  }
};

struct BundledReport {
  Finding finding;
  std::string path, sha256;

  void Fields(auto& f) {
    finding.Fields(f);
    f.Required("path", path);
    f.Required("sha256", sha256);
  }
};

// The result of a trial: one policy under the backend that `auto` chooses, or one backend with the policy read-only.
struct TrialReport {
  std::string name;
  Finding finding;
  std::vector<std::string> enforced_by;  // such as "mounts", as the command saw it from inside
  uint64_t milliseconds = 0;             // the time from the start to the end of the command

  void Fields(auto& f) {
    f.Required("name", name);
    finding.Fields(f);
    f.Required("enforcedBy", enforced_by);
    f.Required("milliseconds", milliseconds);
  }
};

struct Report {
  bool works = false;  // commands that ask for nothing special get a sandbox
  std::string summary;
  Host host;
  ProgramReport sandbox_program;
  BubblewrapReport bubblewrap;
  BundledReport bundled;
  ProgramReport ripgrep;  // the sandbox does not use it, but commands expect it
  NamespacesReport namespaces;
  LandlockReport landlock;
  SeccompReport seccomp;
  AppArmorReport apparmor;
  CgroupsReport cgroups;
  // The backends in the order in which `auto` prefers them. The last is Landlock alone, which is used only on request.
  std::vector<TrialReport> backends;
  std::vector<TrialReport> policies;

  void Fields(auto& f) {
    f.Required("works", works);
    f.Required("summary", summary);
    f.Required("host", host);
    f.Required("sandboxProgram", sandbox_program);
    f.Required("bubblewrap", bubblewrap);
    f.Required("bundledBubblewrap", bundled);
    f.Required("ripgrep", ripgrep);
    f.Required("namespaces", namespaces);
    f.Required("landlock", landlock);
    f.Required("seccomp", seccomp);
    f.Required("appArmor", apparmor);
    f.Required("cgroups", cgroups);
    f.Required("backends", backends);
    f.Required("policies", policies);
  }
};

}  // namespace holdfast::doctor
