// Judge decides about one execve of a supervised command: it evaluates the policy and, where no rule matches, the
// built-in list of dangerous commands (dangerous.h).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exec_policy/policy.h"

namespace holdfast::exec_policy {

enum class Action {
  kRun,       // the program runs where it was called, inside the sandbox
  kEscalate,  // the program runs outside of the sandbox
  kDeny,      // the program does not run
};

// The name of a program that rules are compared with.
enum class ProgramNames {
  kBaseName,      // the last part of the path
  kFullPath,      // the path as it is
  kResolvedPath,  // the path; if no rule matches, its base name, unless a host_executable lists only other paths
};

// The facts about the file of a program, from the best to the worst.
enum class ProgramFile {
  kOfSystem,    // the file belongs to the system, and only root can change it
  kFixed,       // no sandboxed command can change the file, but it is not the system's
  kWritable,    // a sandboxed command can change or replace the file, or could before
  kNotTheSame,  // outside of the sandbox the path leads to another file, or to none
};

// The working directory of the caller, compared with what lies at its path outside of the sandbox.
enum class WorkingDirectory {
  kSame,
  kElsewhere,  // outside of the sandbox the path leads to another directory, or to none
};

struct ExecAttempt {
  std::string_view file;              // absolute, as it was called
  std::span<const std::string> argv;  // includes argv[0]; may be empty
  std::string_view cwd = {};          // absolute
  ProgramFile program_file = ProgramFile::kOfSystem;
  std::span<const std::string> other_paths = {};  // further paths of the same file, such as the one without links
  // The interpreter of a script that begins with #!, and its argument if there is one.
  std::span<const std::string> interpreter = {};
  std::span<const std::string> interpreter_paths = {};  // further paths of the interpreter
  WorkingDirectory directory = WorkingDirectory::kSame;
};

struct Judgement {
  Action action = Action::kRun;
  // The question has to be asked before `action` is taken; after a refusal the action is kDeny.
  bool asks = false;
  // The reason of a denial or a question: the rule's justification, or a sentence of our own. It can be shown on a
  // terminal, and so can the rule.
  std::string reason = {};
  // The rule that decided, as it could be written, with its file and line; empty if no rule did.
  std::string rule = {};
  // The names of the variables that the program may take out of the sandbox, as the rules list them.
  std::vector<std::string> variables = {};

  friend bool operator==(const Judgement&, const Judgement&) = default;
};

// A program that is called by another name than that of its file may behave as the program of that name: argv[0] is
// judged too, and the stricter judgement counts. The program then leaves the sandbox only if rules allow both names,
// and a question shows argv[0]. A leading `-` of argv[0], which marks a login shell, does not count, and an attempt
// without any argv has the name of its file.
//
// A path is compared without `.`, `..` and empty components. Each further path of the file is compared too, by the
// rules alone: one that forbids it or asks about it counts. A rule that allows it takes nothing out, and neither does
// one about the path of the call if that has a `..`, because a link before it would lead to another file.
//
// The interpreter of a script is judged too, as a program that gets the path of the script and its arguments. A rule
// that forbids the interpreter or asks about it counts for the script, and no rule about it takes the script out.
//
// A rule that names only the program applies to every path that ends in that name, unless a host_executable lists the
// paths for it. Because of such a rule only a program of the system leaves the sandbox, or one that a host_executable
// lists and that no sandboxed command could have written; any other one runs inside. No rule takes out a command whose
// working directory is another one outside.
//
// Of several rules that decide, all variables count. Of two names of a program, only those that the rules about both
// list.
Judgement Judge(const Policy& policy, const ExecAttempt& attempt, ProgramNames names);

}  // namespace holdfast::exec_policy
