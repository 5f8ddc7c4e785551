// The program `holdfast`: it reads the command line and runs one of its commands.

#include <csignal>
#include <cstdio>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "cli/table/parse.h"
#include "sandbox/flags.h"
#include "sandbox/helper_command/become_helper.h"
#include "sandbox/outcome.h"
#include "sys/io.h"
#include "sys/own_arguments.h"

namespace holdfast {
namespace {

// Executes the helper with the given arguments. Returns the exit status, only if the helper cannot be executed.
int RunAsHelper(int argc, char** argv) {
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  return sandbox::Conclude(sandbox::CalledAs(argc, argv), std::unexpected(sandbox::BecomeHelper(argv)),
                           sandbox::FindReportFd(arguments));
}

// Every user of the machine may read the command line of a process. The parser has its own copy of the words.
void HideSecrets(const cli::Arguments& arguments) {
  for (const cli::SecretWord& secret : cli::SecretWordsIn(arguments)) sys::HideInArguments(secret.word, secret.shown);
}

int RunCommand(int argc, char** argv) {
  const std::vector<std::string> words = cli::WordsOf(sandbox::CalledAs(argc, argv), {argv + 1, argv + argc});
  const auto arguments = cli::Parse(cli::Table(), words);
  if (arguments) {
    HideSecrets(*arguments);
    return arguments->command().run(*arguments);
  }
  const cli::Answered& answered = arguments.error();
  // A caller that has closed the stream does not want the text.
  (void)std::fputs(answered.out.c_str(), stdout);
  (void)std::fputs(answered.err.c_str(), stderr);
  return answered.status;
}

}  // namespace
}  // namespace holdfast

int main(int argc, char** argv) {
  if (holdfast::sandbox::IsHelperName(holdfast::sandbox::CalledAs(argc, argv))) {
    return holdfast::RunAsHelper(argc, argv);
  }
  holdfast::sys::RememberArguments(argc, argv);
  // With these signals ignored, a write to a broken pipe or beyond the limit on a file's size fails with an error
  // instead of ending the program.
  (void)std::signal(SIGPIPE, SIG_IGN);
  (void)std::signal(SIGXFSZ, SIG_IGN);
  if (auto reserved = holdfast::sys::ReserveLowFds(); !reserved) {
    (void)std::fprintf(stderr, "holdfast: %s\n", reserved.error().message.c_str());
    return 1;
  }
  return holdfast::RunCommand(argc, argv);
}
