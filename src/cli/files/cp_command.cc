#include "cli/files/commands.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
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
#include "loop/event.h"
#include "loop/event_loop.h"
#include "loop/scope.h"
#include "loop/signal_watch.h"
#include "loop/task.h"
#include "sys/signals.h"

namespace holdfast::cli {
namespace {

// Work that the user may interrupt: by Ctrl-C, by closing the terminal, or by SIGTERM. The work is destroyed where it
// waits, so that it can tidy up, and this program goes on.
class Interruptible {
 public:
  explicit Interruptible(loop::EventLoop& loop);
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

  // Runs the task until it ends, a signal comes or the time is over. Returns whether it has ended.
  loop::Task<bool> Run(loop::Task<> work, std::optional<std::chrono::milliseconds> limit = {});

  int signal() const { return signal_; }  // the one that came last; 0 if there was none

 private:
  loop::EventLoop& loop_;
  int signal_ = 0;
  bool came_ = false;  // a signal, since the work has begun
  loop::Event changed_;
  loop::SignalWatch watch_;
};

// A signal that the caller of this program ignores, as nohup does with SIGHUP, stays ignored.
std::vector<int> Interruptions() {
  std::vector<int> signals;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (!sys::IsIgnored(signal)) signals.push_back(signal);
  }
  return signals;
}

loop::Task<> Finish(loop::Task<> work, bool& done, loop::Event& changed) {
  co_await std::move(work);
  done = true;
  changed.Notify();  // may end this task's scope
}

Interruptible::Interruptible(loop::EventLoop& loop)
    : loop_(loop), watch_(loop, Interruptions(), [this](int signal) {
        signal_ = signal;
        came_ = true;
        changed_.Notify();
      }) {}

loop::Task<bool> Interruptible::Run(loop::Task<> work, std::optional<std::chrono::milliseconds> limit) {
  bool done = false;
  came_ = false;
  loop::Deadline deadline(loop_, limit);
  loop::Scope scope;
  scope.Start(Finish(std::move(work), done, changed_));
  while (!done && !came_ && !deadline.passed()) co_await changed_.NextBefore(deadline);
  co_return done;
}

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto kPatience = 3s;  // for the server to remove the part of an upload that was interrupted

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

  // Returns the part that an interrupted copy has left on the server; empty if it has left none, or is meant to.
  std::string PartToRemove() const;
  loop::Task<> RemovePart(bool& removed);
  void ClearProgress() { progress_.Clear(); }

 private:
  loop::Task<Result<>> Up(std::string from, std::string to);
  loop::Task<Result<>> Down(std::string from, std::string to);
  loop::Task<bool> IsDirectory(Direction direction, std::string path);
  void Announce(const Tree& tree);
  void TellLimits(Direction direction) const;
  TransferJob JobFor(const TreeFile& file, const std::string& from, const std::string& to) const;

  bool resumes() const { return invocation_.arguments().Has("--resume"); }
  bool keeps_times() const {
    return invocation_.arguments().Has("--preserve") || invocation_.arguments().Has("--archive");
  }
  std::string OnServer(const std::string& text) const { return ServerPath(text, server_directory_); }

  Invocation& invocation_;
  client::Files files_;
  std::string server_directory_;
  uint64_t total_bytes_ = 0, total_files_ = 0;
  std::optional<TransferJob> upload_;  // the one under way
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
  total_bytes_ += tree.bytes;
  total_files_ += tree.files.size();
  progress_.SetTotal({.bytes = total_bytes_, .files = total_files_});
  for (const std::string& path : tree.skipped) {
    (void)invocation_.Complain(fmt::format("{} is neither a file nor a directory, and was left out", path));
  }
}

// A published server has no way to do some of what the user may expect.
void Copying::TellLimits(Direction direction) const {
  if (direction == Direction::kOnServer) {
    if (keeps_times()) (void)invocation_.Complain("copies on the server get the time at which they are made");
    return;
  }
  if (files_.updates_files()) return;
  (void)invocation_.Complain("this server does not know the permissions of files: the copies get the usual ones");
  if (direction == Direction::kUp && keeps_times()) {
    (void)invocation_.Complain("this server cannot set times: the copies get the time at which they are made");
  }
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
          .resuming = resumes() ? Resuming::kResume : Resuming::kNo,
          .times = keeps_times() ? FileTimes::kOfSource : FileTimes::kOfCopy};
}

std::string Copying::PartToRemove() const {
  const bool is_kept = resumes() && files_.updates_files();
  return upload_ && !is_kept ? PartOf(*upload_) : std::string();
}

loop::Task<> Copying::RemovePart(bool& removed) {
  const auto outcome = co_await files_.Remove(PartToRemove(), client::Files::Missing::kIsFine);
  removed = outcome.has_value();
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
    upload_ = JobFor(file, from, to);
    auto copied = co_await UploadFile(files_, *upload_, progress_);
    if (!copied) co_return copied;
  }
  upload_.reset();
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

loop::Task<> RunInto(Result<>& outcome, loop::Task<Result<>> copy) { outcome = co_await std::move(copy); }

// Says what an interrupted copy has left, and returns the exit status.
int ComplainOfInterruption(const Invocation& invocation, int signal, const std::string& left_part) {
  const int status = 128 + signal;
  if (!left_part.empty()) return invocation.Complain("interrupted; " + LeftText(left_part), status);
  if (!invocation.arguments().Has("--resume")) {
    return invocation.Complain("interrupted; the file under way was removed, and those before it are complete", status);
  }
  return invocation.Complain("interrupted; the same command goes on with the copy", status);
}

// Copies, and tidies up if the user interrupts that.
loop::Task<int> CopyUntilInterrupted(Invocation& invocation, Copying& copying, loop::Task<Result<>> copy) {
  Interruptible interruptible(invocation.loop());
  Result<> copied;
  const bool finished = co_await interruptible.Run(RunInto(copied, std::move(copy)));
  copying.ClearProgress();
  if (finished) co_return copied ? 0 : invocation.Complain(copied.error());
  std::string part = copying.PartToRemove();
  bool removed = false;
  if (!part.empty()) co_await interruptible.Run(copying.RemovePart(removed), kPatience);
  if (removed) part.clear();
  co_return ComplainOfInterruption(invocation, interruptible.signal(), part);
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
  Copying copying(invocation, client->files(), *std::move(directory));
  auto copy = copying.Run(*direction, std::move(sources), std::move(destination));
  co_return co_await CopyUntilInterrupted(invocation, copying, std::move(copy));
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
          "A file takes its name when it is complete, so that a copy which fails or is interrupted leaves no half "
          "written file behind. "
          "It gets the permissions of its source, as far as the umask allows them. The set-user-ID, set-group-ID and "
          "sticky bits, the owner, and the modes of directories are not copied.\n\n"
          "With --resume, a copy that is cut keeps what has come, and the next one goes on with it, also with what a "
          "copy without --resume has left when it was killed. A file gets the time of its source, and is skipped if "
          "it has the size and the time of its source already. A file that has changed since is copied from its "
          "beginning.\n\n"
          "Servers other than that of holdfast do not know permissions, and cannot go on with copies to them. There "
          "the copies get the usual permissions, and each is made from its beginning.",
      .options = WithServerOptions(
          {{.flag = "--resume",
            .help = "skip files that are complete, go on with a copy that was cut, and keep what has come if this one "
                    "is cut too"},
           {.flag = "--preserve", .letter = "-p", .help = "give files the times of their sources too"},
           {.flag = "--archive", .letter = "-a", .help = "the same as -r -p"},
           {.flag = "--recursive", .letter = "-r", .help = "copy directories, as happens without this option too"}}),
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
