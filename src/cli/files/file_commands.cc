#include "cli/files/commands.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/shown_text.h"
#include "cli/connect/invocation.h"
#include "cli/connect/server_path.h"
#include "cli/terminal/screen.h"
#include "cli/text/table.h"
#include "sys/write_all.h"
#include "wire/encode.h"

namespace holdfast::cli {
namespace {

// The function of a command for one path.
using PathFunction = loop::Task<Result<>> (*)(Invocation& invocation, client::Files files, std::string path);

// Connects and calls `function` for each path. A path that fails does not keep the others from being tried.
loop::Task<int> ForEachPath(Invocation& invocation, PathFunction function) {
  auto client = co_await invocation.Connect(Invocation::Starting::kOnDemand);
  if (!client) co_return invocation.Complain(client.error());
  auto directory = ServerDirectory(invocation, *client);
  if (!directory) co_return invocation.Complain(directory.error());
  std::vector<std::string> paths = invocation.arguments().Values("PATH");
  if (paths.empty()) paths.emplace_back(".");
  int status = 0;
  for (const std::string& path : paths) {
    const auto done = co_await function(invocation, client->files(), ServerPath(path, *directory));
    if (!done) status = invocation.Complain(done.error());
  }
  co_return status;
}

std::string KindOf(const wire::FsGetMetadataResult& metadata) {
  if (metadata.is_symlink) return "link";
  if (metadata.is_directory) return "directory";
  return metadata.is_file ? "file" : "other";
}

std::string TimeText(int64_t ms) {
  const std::time_t seconds = ms / 1000;
  std::tm local{};
  if (::localtime_r(&seconds, &local) == nullptr) return {};
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", local);
}

struct Listed {
  std::string path;
  wire::FsGetMetadataResult metadata;

  void Fields(auto& f) {
    f.Required("path", path);
    metadata.Fields(f);
  }
};

std::string NameOf(const wire::FsDirectoryEntry& entry) {
  return entry.is_directory ? entry.file_name + "/" : entry.file_name;
}

std::string_view ColourOf(const wire::FsDirectoryEntry& entry) {
  return entry.is_directory && HasColours(STDOUT_FILENO) ? kBlue : "";
}

loop::Task<Result<>> ListLong(Invocation& invocation, client::Files files, std::string path,
                              std::vector<wire::FsDirectoryEntry> entries) {
  TextTable table;
  for (const wire::FsDirectoryEntry& entry : entries) {
    const std::string entry_path = JoinedPath(path, entry.file_name);
    auto metadata = co_await files.Metadata(entry_path);
    if (!metadata) continue;  // the file has been removed meanwhile, or is a link that leads nowhere
    if (invocation.wants_json()) {
      PrintJson(wire::Encode(Listed{entry_path, *metadata}));
    } else {
      table.Add(
          {KindOf(*metadata), fmt::format("{:>12}", metadata->size), TimeText(metadata->modified_at_ms), NameOf(entry)},
          ColourOf(entry));
    }
  }
  Print(table.Text());
  co_return Result<>();
}

loop::Task<Result<>> List(Invocation& invocation, client::Files files, std::string path) {
  auto metadata = co_await files.Metadata(path);
  if (!metadata) co_return std::unexpected(std::move(metadata).error());
  if (!metadata->is_directory) {
    if (invocation.wants_json()) {
      PrintJson(wire::Encode(Listed{path, *metadata}));
    } else {
      Print(ShownText(path) + "\n");
    }
    co_return Result<>();
  }
  auto entries = co_await files.List(path);
  if (!entries) co_return std::unexpected(std::move(entries).error());
  std::ranges::sort(*entries, {}, &wire::FsDirectoryEntry::file_name);
  if (invocation.arguments().Has("--long") || invocation.wants_json()) {
    co_return co_await ListLong(invocation, files, path, *std::move(entries));
  }
  std::string text;
  for (const wire::FsDirectoryEntry& entry : *entries) text += Coloured(NameOf(entry), ColourOf(entry)) + "\n";
  Print(text);
  co_return Result<>();
}

// A reader that closes the pipe ends the command as SIGPIPE would: there is nothing to complain about.
loop::Task<Result<>> Cat(Invocation&, client::Files files, std::string path) {
  const auto sink = [](std::string_view bytes) -> Result<> {
    const int error = sys::WriteAll(STDOUT_FILENO, bytes);
    if (error == EPIPE) ::_exit(128 + SIGPIPE);
    return error == 0 ? Result<>() : FailErrno("write", "standard output", error);
  };
  auto read = co_await files.Download(std::move(path), sink);
  if (!read) co_return std::unexpected(std::move(read).error());
  co_return Result<>();
}

loop::Task<Result<>> Remove(Invocation& invocation, client::Files files, std::string path) {
  const Arguments& arguments = invocation.arguments();
  auto metadata = co_await files.Metadata(path);
  if (metadata && metadata->is_directory && !metadata->is_symlink && !arguments.Has("--recursive")) {
    co_return Fail(ErrorKind::kInvalidParams,
                   fmt::format("{} is a directory; -r removes it with everything in it", path));
  }
  using Missing = client::Files::Missing;
  co_return co_await files.Remove(path, arguments.Has("--force") ? Missing::kIsFine : Missing::kIsError);
}

loop::Task<Result<>> MakeDirectory(Invocation&, client::Files files, std::string path) {
  co_return co_await files.CreateDirectory(path);
}

loop::Task<Result<>> Stat(Invocation& invocation, client::Files files, std::string path) {
  auto metadata = co_await files.Metadata(path);
  if (!metadata) co_return std::unexpected(std::move(metadata).error());
  if (invocation.wants_json()) {
    PrintJson(wire::Encode(Listed{path, *metadata}));
    co_return Result<>();
  }
  TextTable table;
  table.Add({"path:", path});
  table.Add({"kind:", KindOf(*metadata)});
  table.Add({"size:", fmt::format("{}", metadata->size)});
  if (metadata->permissions) table.Add({"mode:", fmt::format("{:04o}", *metadata->permissions)});
  table.Add({"modified:", TimeText(metadata->modified_at_ms)});
  if (metadata->created_at_ms != 0) table.Add({"created:", TimeText(metadata->created_at_ms)});
  Print(table.Text());
  co_return Result<>();
}

template <PathFunction Function>
loop::Task<int> ForPaths(Invocation& invocation) {
  return ForEachPath(invocation, Function);
}

std::vector<Argument> Paths(Argument::Count count = Argument::Count::kMany) {
  return {{.name = "PATH",
           .help = "a path on the server; a colon in front of it may be left out",
           .count = count,
           .completes = Completes::kFile}};
}

}  // namespace

Command LsCommand() {
  return {.name = "ls",
          .topic = Topic::kFiles,
          .summary = "Lists a directory of a server.",
          .options = WithJsonOption(
              WithServerOptions({{.flag = "--long", .letter = "-l", .help = "print kind, size and time as well"}})),
          .arguments = Paths(Argument::Count::kOptional),
          .examples = {{"holdfast ls -l /tmp", "Lists /tmp of the server."}},
          .run = Remotely(ForPaths<List>)};
}

Command CatCommand() {
  return {.name = "cat",
          .topic = Topic::kFiles,
          .summary = "Prints files of a server.",
          .options = WithServerOptions({}),
          .arguments = Paths(),
          .examples = {{"holdfast cat /etc/hostname", "Prints the name of the server's machine."}},
          .run = Remotely(ForPaths<Cat>)};
}

Command RmCommand() {
  return {.name = "rm",
          .topic = Topic::kFiles,
          .summary = "Removes files of a server.",
          .options = WithServerOptions(
              {{.flag = "--recursive", .letter = "-r", .help = "remove directories with everything in them"},
               {.flag = "--force", .letter = "-f", .help = "do not complain about files that do not exist"}}),
          .arguments = Paths(),
          .examples = {{"holdfast rm -r /tmp/build", "Removes a directory with everything in it."}},
          .run = Remotely(ForPaths<Remove>)};
}

Command MkdirCommand() {
  return {.name = "mkdir",
          .topic = Topic::kFiles,
          .summary = "Makes directories on a server, with those above them.",
          .options = WithServerOptions({}),
          .arguments = Paths(),
          .examples = {{"holdfast mkdir /tmp/a/b", "Makes /tmp/a, if it is missing, and /tmp/a/b."}},
          .run = Remotely(ForPaths<MakeDirectory>)};
}

Command StatCommand() {
  return {.name = "stat",
          .topic = Topic::kFiles,
          .summary = "Tells kind, size and times of files of a server.",
          .options = WithJsonOption(WithServerOptions({})),
          .arguments = Paths(),
          .examples = {{"holdfast stat --json /etc/passwd", "Prints what is known about a file as JSON."}},
          .run = Remotely(ForPaths<Stat>)};
}

}  // namespace holdfast::cli
