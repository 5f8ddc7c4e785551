#include "cli/files/cp_command.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/paths.h"
#include "cli/connect/invocation.h"
#include "cli/connect/server_path.h"
#include "cli/files/download.h"
#include "cli/files/tree.h"
#include "cli/files/upload.h"
#include "cli/terminal/progress.h"

namespace holdfast::cli {
namespace {

namespace fs = std::filesystem;

enum class Direction { kUp, kDown, kOnServer };

bool IsOnServer(const std::string& text) { return text.starts_with(':'); }

Result<Direction> DirectionOf(const std::vector<std::string>& sources, const std::string& destination) {
  const auto remote = std::ranges::count_if(sources, IsOnServer);
  if (remote != 0 && static_cast<size_t>(remote) != sources.size()) {
    return Fail(ErrorKind::kInvalidParams, "all sources must be on the same side");
  }
  if (remote == 0 && IsOnServer(destination)) return Direction::kUp;
  if (remote != 0) return IsOnServer(destination) ? Direction::kOnServer : Direction::kDown;
  return Fail(ErrorKind::kInvalidParams,
              "one side must be on the server; its paths begin with a colon, as in :/tmp/file");
}

Result<std::string> LocalPath(const std::string& text) {
  std::error_code error;
  std::string path = fs::absolute(text, error).lexically_normal().string();
  if (error) return FailErrno("getcwd", text, error.value());
  if (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

// Makes the directory that the user has named, with its parents. Links in that path are the user's.
Result<> MakeRoot(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return FailErrno("mkdir", path, error.value());
  return {};
}

// Makes a directory whose name comes from the server. A link with that name is refused: the server would choose which
// of the user's links are followed, and so write to files outside the destination.
Result<> MakeBelow(const std::string& path) {
  std::error_code error;
  if (fs::create_directory(path, error) || fs::symlink_status(path, error).type() == fs::file_type::directory)
    return {};
  if (fs::symlink_status(path, error).type() == fs::file_type::symlink) {
    return Fail(ErrorKind::kInvalidRequest, path + " is a link, which a copy from the server does not follow");
  }
  return FailErrno("mkdir", path, error ? error.value() : ENOTDIR);
}

// One copy with everything that it needs.
class Copying {
 public:
  Copying(Invocation& invocation, client::Files files, std::string server_directory)
      : invocation_(invocation), files_(std::move(files)), server_directory_(std::move(server_directory)) {}

  loop::Task<Result<>> Run(Direction direction, std::vector<std::string> sources, std::string destination);

 private:
  loop::Task<Result<>> Up(std::string from, std::string to);
  loop::Task<Result<>> Down(std::string from, std::string to);
  loop::Task<bool> IsDirectory(Direction direction, std::string path);
  void Announce(const Tree& tree);
  void TellLimits(Direction direction) const;
  TransferJob JobFor(const TreeFile& file, const std::string& from, const std::string& to) const;

  bool resumes() const { return invocation_.arguments().Has("--resume"); }
  std::string OnServer(const std::string& text) const { return ServerPath(text, server_directory_); }

  Invocation& invocation_;
  client::Files files_;
  std::string server_directory_;
  uint64_t total_ = 0;
  ProgressBar progress_{STDERR_FILENO};
};

loop::Task<bool> Copying::IsDirectory(Direction direction, std::string path) {
  if (direction == Direction::kDown) {
    std::error_code error;
    co_return fs::is_directory(path, error);
  }
  const auto metadata = co_await files_.Metadata(path);
  co_return metadata && metadata->is_directory;
}

void Copying::Announce(const Tree& tree) {
  total_ += tree.bytes;
  progress_.SetTotal(total_);
  for (const std::string& path : tree.skipped) {
    (void)invocation_.Complain(fmt::format("{} is neither a file nor a directory, and was left out", path));
  }
}

// A published server has no way to do some of what the user may expect.
void Copying::TellLimits(Direction direction) const {
  if (direction == Direction::kOnServer || files_.updates_files()) return;
  (void)invocation_.Complain("this server does not know the permissions of files: the copies get the usual ones");
  if (direction == Direction::kUp && resumes()) {
    (void)invocation_.Complain("this server cannot go on with a copy: every file is copied from its beginning");
  }
}

TransferJob Copying::JobFor(const TreeFile& file, const std::string& from, const std::string& to) const {
  return {.from = JoinedPath(from, file.path),
          .to = JoinedPath(to, file.path),
          .size = file.size,
          .modified_at_ms = file.modified_at_ms,
          .permissions = file.permissions,
          .resuming = resumes() ? Resuming::kResume : Resuming::kNo};
}

loop::Task<Result<>> Copying::Run(Direction direction, std::vector<std::string> sources, std::string destination) {
  const bool to_server = direction != Direction::kDown;
  auto local = LocalPath(destination);
  if (!local) co_return std::unexpected(std::move(local).error());
  const std::string to = to_server ? OnServer(destination) : *local;
  TellLimits(direction);
  const bool into = co_await IsDirectory(direction, to);
  if (sources.size() > 1 && !into) co_return Fail(ErrorKind::kInvalidParams, destination + " is not a directory");
  for (const std::string& source : sources) {
    auto from = direction == Direction::kUp ? LocalPath(source) : Result<std::string>(OnServer(source));
    if (!from) co_return std::unexpected(std::move(from).error());
    std::string target = into ? JoinedPath(to, std::string(NameOf(*from))) : to;
    auto copied = direction == Direction::kUp     ? co_await Up(*from, std::move(target))
                  : direction == Direction::kDown ? co_await Down(*from, std::move(target))
                                                  : co_await files_.Copy(*from, target);
    if (!copied) co_return copied;
  }
  co_return Result<>();
}

loop::Task<Result<>> Copying::Up(std::string from, std::string to) {
  auto tree = ListLocal(from);
  if (!tree) co_return std::unexpected(std::move(tree).error());
  Announce(*tree);
  if (tree->is_directory) tree->directories.insert(tree->directories.begin(), "");
  for (const std::string& directory : tree->directories) {
    auto made = co_await files_.CreateDirectory(JoinedPath(to, directory));
    if (!made) co_return made;
  }
  for (const TreeFile& file : tree->files) {
    auto copied = co_await UploadFile(files_, JobFor(file, from, to), progress_);
    if (!copied) co_return copied;
  }
  co_return Result<>();
}

loop::Task<Result<>> Copying::Down(std::string from, std::string to) {
  auto tree = co_await ListRemote(files_, from);
  if (!tree) co_return std::unexpected(std::move(tree).error());
  Announce(*tree);
  auto made = tree->is_directory ? MakeRoot(to) : Result<>();
  for (const std::string& directory : tree->directories) {
    if (made) made = MakeBelow(JoinedPath(to, directory));
  }
  if (!made) co_return made;
  for (const TreeFile& file : tree->files) {
    auto copied = co_await DownloadFile(files_, JobFor(file, from, to), progress_);
    if (!copied) co_return copied;
  }
  co_return Result<>();
}

loop::Task<int> Cp(Invocation& invocation) {
  std::vector<std::string> sources = invocation.arguments().Values("PATH");
  if (sources.size() < 2) co_return invocation.Complain("a source and a destination are required", 2);
  std::string destination = std::move(sources.back());
  sources.pop_back();
  const auto direction = DirectionOf(sources, destination);
  if (!direction) co_return invocation.Complain(direction.error(), 2);
  if (invocation.arguments().Has("--resume") && *direction == Direction::kOnServer) {
    co_return invocation.Complain("--resume is for copies between this machine and the server", 2);
  }
  auto client = co_await invocation.Connect(Invocation::Starting::kOnDemand);
  if (!client) co_return invocation.Complain(client.error());
  auto directory = ServerDirectory(invocation, *client);
  if (!directory) co_return invocation.Complain(directory.error());
  Result<> copied;
  {
    Copying copying(invocation, client->files(), *std::move(directory));
    copied = co_await copying.Run(*direction, std::move(sources), std::move(destination));
  }
  co_return copied ? 0 : invocation.Complain(copied.error());
}

}  // namespace

Command CpCommand() {
  return {
      .name = "cp",
      .topic = Topic::kFiles,
      .summary = "Copies files and directories between this machine and a server.",
      .description =
          "A path that begins with a colon is on the server; a relative one is below the current directory, or below "
          "the directory of a remote server. Directories are copied with everything in them. If the destination is "
          "a directory, the copy gets its name in it.\n\n"
          "A file takes its name when it is complete, so that a copy which fails leaves no half written file behind. "
          "It gets the permissions of its source, as far as the umask allows them. The set-user-ID, set-group-ID and "
          "sticky bits, the owner, and the modes of directories are not copied.\n\n"
          "With --resume, a copy that is cut keeps what has come, and the next one goes on with it. A file gets the "
          "time of its source, and is skipped if it has the size and the time of its source already. A file that has "
          "changed since is copied from its beginning.\n\n"
          "Servers other than that of holdfast do not know permissions, and cannot go on with copies to them. There "
          "the copies get the usual permissions, and each is made from its beginning.",
      .options = WithServerOptions({{.flag = "--resume",
                                     .help = "skip files that are complete, go on with a copy that was cut, and keep "
                                             "what has come if this one is cut too"}}),
      .arguments = {{.name = "PATH",
                     .help = "the sources and, as the last one, the destination",
                     .count = Argument::Count::kMany,
                     .completes = Completes::kFile}},
      .examples = {{"holdfast cp report.pdf :/tmp/", "Copies a file to the server."},
                   {"holdfast cp --server ws://build:8765 :build/out .", "Copies a directory from another machine."},
                   {"holdfast cp --resume :/data/big.img .", "Goes on with a download that was cut."},
                   {"holdfast cp --resume disk.img :/data/", "Goes on with an upload that was cut."}},
      .exit_statuses = {{"0", "everything was copied"},
                        {"1", "something failed"},
                        {"2", "the command line is wrong"},
                        {"128+N", "the copy was interrupted by signal N"}},
      .hints = {{{"-R"}, "write -r"}},
      .run = Remotely(Cp)};
}

}  // namespace holdfast::cli
