#include "sandbox_command.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "linux_sandbox/sandboxed_run.h"
#include "profile/builtin_policies.h"
#include "profile/profile_file.h"
#include "sandbox/plan.h"

namespace holdfast {

struct SandboxCommand::Words {
  bool read_only = false, workspace_write = false, network = false, explain = false;
  std::string profile, config, directory;
  std::vector<std::string> writable, denied, command;
};

namespace {

std::string Absolute(const std::string& path) { return std::filesystem::absolute(path).lexically_normal().string(); }

bool IsPattern(const std::string& text) { return text.find_first_of("*?[") != std::string::npos; }

}  // namespace

SandboxCommand::SandboxCommand(CLI::App& app) : words_(std::make_unique<Words>()) {
  auto* base = app.add_option_group("policy");
  base->add_flag("--read-only", words_->read_only, "read everything, write nothing; the default");
  base->add_flag("--workspace-write", words_->workspace_write, "write the directory, /tmp and $TMPDIR");
  base->add_option("--profile", words_->profile, "a profile of --config, or read-only, workspace-write");
  base->require_option(0, 1);
  app.add_option("--config", words_->config, "TOML file with [permissions.NAME] tables");
  app.add_option("-C", words_->directory, "where the command runs, and what the workspace is; default: here");
  app.add_option("-w", words_->writable, "one more place to write")->take_all();
  app.add_option("--deny", words_->denied, "a path or pattern that may not even be read")->take_all();
  app.add_flag("--network", words_->network, "leave the network as it is");
  app.add_flag("--explain", words_->explain, "print what would be enforced, and run nothing");
  app.add_option("command", words_->command, "what to run")->type_name("COMMAND");
}

SandboxCommand::~SandboxCommand() = default;

namespace {

Result<sandbox::Policy> BasePolicy(bool workspace_write, const std::string& name, const std::string& config) {
  if (name.empty()) return workspace_write ? profile::WorkspaceWrite() : profile::ReadOnly();
  if (!config.empty()) return profile::LoadProfile(config, name);
  if (auto policy = profile::BuiltinPolicy(name)) return *std::move(policy);
  return Fail(ErrorKind::kNotFound, "no profile is called " + name + "; --config names a file of them");
}

void AddRule(sandbox::Policy& policy, const std::string& text, sandbox::Access access) {
  if (!policy.files) return;
  const bool is_pattern = access == sandbox::Access::kDeny && IsPattern(text);
  sandbox::Entry entry{.where = sandbox::AbsolutePath{is_pattern ? "" : Absolute(text)}, .access = access};
  if (is_pattern) entry.where = sandbox::Pattern{text};
  policy.files->entries.push_back(std::move(entry));
}

}  // namespace

int SandboxCommand::Run() const {
  auto policy = BasePolicy(words_->workspace_write, words_->profile, words_->config);
  if (!policy) return linux_sandbox::Complain(linux_sandbox::kBadUsage, policy.error().message);
  for (const std::string& path : words_->writable) AddRule(*policy, path, sandbox::Access::kWrite);
  for (const std::string& path : words_->denied) AddRule(*policy, path, sandbox::Access::kDeny);
  if (words_->network) policy->network = sandbox::Network::kEnabled;
  const std::string directory = Absolute(words_->directory.empty() ? "." : words_->directory);
  linux_sandbox::SandboxedRun run{.policy = *std::move(policy),
                                  .policy_cwd = directory,
                                  .command_cwd = directory,
                                  .fresh_proc = true,
                                  .command = words_->command};
  if (words_->explain) {
    const auto plan = linux_sandbox::PlanFor(run);
    if (!plan) return linux_sandbox::Complain(linux_sandbox::kCannotEnforce, plan.error().message);
    (void)std::fputs(sandbox::Text(*plan).c_str(), stdout);  // a closed stdout is the caller's wish
    return 0;
  }
  if (run.command.empty()) return linux_sandbox::Complain(linux_sandbox::kBadUsage, "no command to run");
  return linux_sandbox::Run(run);
}

}  // namespace holdfast
