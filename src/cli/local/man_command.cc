#include "cli/local/commands.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "base/result.h"
#include "cli/table/arguments.h"
#include "cli/table/man_page.h"
#include "cli/table/suggestion.h"
#include "cli/text/complaint.h"

namespace holdfast::cli {
namespace {

int Complain(const std::string& message, int status) {
  PrintComplaint("holdfast man", message);
  return status;
}

Result<> WriteFile(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) return Fail(ErrorKind::kSystem, fmt::format("cannot write {}", path.string()));
  return {};
}

Result<> WritePages(const std::filesystem::path& directory, std::span<const Command> table) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return FailErrno("mkdir", directory.string(), error.value());
  TRY_VOID(WriteFile(directory / "holdfast.1", ManPage(table)));
  for (const Command& command : table) {
    TRY_VOID(WriteFile(directory / (ManPageName(command) + ".1"), ManPage(command)));
  }
  return {};
}

int Run(const Arguments& arguments) {
  const std::span<const Command> table = arguments.table();
  if (const auto directory = arguments.Value("--dir")) {
    const Result<> written = WritePages(*directory, table);
    return written ? 0 : Complain(written.error().message, 1);
  }
  std::string page = ManPage(table);
  if (const auto name = arguments.Value("COMMAND")) {
    const auto found = std::ranges::find(table, *name, &Command::name);
    if (found == table.end()) return Complain(UnknownCommandText(table, *name), kWrongUse);
    page = ManPage(*found);
  }
  return std::fputs(page.c_str(), stdout) < 0 || std::fflush(stdout) != 0 ? 1 : 0;
}

}  // namespace

Command ManCommand() {
  return {.name = "man",
          .topic = Topic::kOther,
          .summary = "Prints a page of the manual for man to format.",
          .options = {{.flag = "--dir",
                       .value = "DIR",
                       .help = "write all pages as files into this directory",
                       .completes = Completes::kDirectory}},
          .arguments = {{.name = "COMMAND",
                         .help = "the command that the page is about; without it, the page lists all commands",
                         .count = Argument::Count::kOptional,
                         .completes = Completes::kCommandName}},
          .examples = {{"holdfast man run | man -l -", "Shows the page about run."},
                       {"holdfast man --dir ~/.local/share/man/man1", "Installs all pages for this user."}},
          .run = Run};
}

}  // namespace holdfast::cli
