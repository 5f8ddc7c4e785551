#include "bench_sandbox.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "bench_client.h"
#include "bench_commands.h"
#include "bench_server.h"
#include "wire/methods.h"

namespace holdfast::bench {
namespace {

namespace fs = std::filesystem;

constexpr int kWarmUps = 20;
constexpr int kSamples = 200;
constexpr std::array kProtected = {".git", ".codex", ".agents", ".aws"};
constexpr std::string_view kProfile =
    R"({"type":"managed","file_system":{"type":"restricted","entries":[)"
    R"({"path":{"type":"special","value":{"kind":"root"}},"access":"read"},)"
    R"({"path":{"type":"special","value":{"kind":"project_roots"}},"access":"write"}]},"network":"restricted"})";

// What a workspace has in it: directories that have six others each, and files that are spread over all of them.
struct Contents {
  size_t directories = 1;  // with the workspace itself
  size_t files = 0;
};

// A directory that exists while the object does.
class Workspace {
 public:
  explicit Workspace(const Contents& contents = {}) {
    std::string path = fs::temp_directory_path() / "holdfast-bench-XXXXXX";
    Require(::mkdtemp(path.data()) != nullptr, "mkdtemp");
    path_ = fs::canonical(path);
    Fill(contents);
  }
  ~Workspace() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  const std::string& path() const { return path_; }

  // bubblewrap makes its mount points where they are missing, and leaves them there. They are made before it is
  // measured and removed afterwards, so that its time has none of that, and holdfast always finds them missing.
  void MakeProtected() const {
    for (const char* const name : kProtected) fs::create_directory(fs::path(path_) / name);
  }
  void RemoveProtected() const {
    for (const char* const name : kProtected) fs::remove(fs::path(path_) / name);
  }

 private:
  void Fill(const Contents& contents) const {
    constexpr size_t kInEach = 6;
    std::vector<std::string> directories = {path_};
    for (size_t i = 1; i < contents.directories; ++i) {
      directories.push_back(fmt::format("{}/directory_{}", directories[(i - 1) / kInEach], i));
      fs::create_directory(directories.back());
    }
    for (size_t i = 0; i < contents.files; ++i) {
      const std::string& directory = directories[i * directories.size() / contents.files];
      Require(std::ofstream(fmt::format("{}/module_{}.txt", directory, i)).is_open(), "a file of the workspace");
    }
  }

  std::string path_;
};

std::vector<std::string> BareBubblewrap(const std::string& workspace) {
  std::vector<std::string> words = {"bwrap",
                                    "--new-session",
                                    "--die-with-parent",
                                    "--unshare-user",
                                    "--unshare-pid",
                                    "--unshare-ipc",
                                    "--unshare-uts",
                                    "--unshare-cgroup-try",
                                    "--unshare-net",
                                    "--ro-bind",
                                    "/",
                                    "/",
                                    "--dev",
                                    "/dev",
                                    "--proc",
                                    "/proc",
                                    "--remount-ro",
                                    "/proc",
                                    "--bind",
                                    workspace,
                                    workspace};
  for (const char* const name : kProtected) {
    const std::string path = fmt::format("{}/{}", workspace, name);
    for (const std::string& word : {std::string("--perms"), std::string("0555"), std::string("--tmpfs"), path,
                                    std::string("--remount-ro"), path}) {
      words.push_back(word);
    }
  }
  for (const char* const word : {"--cap-drop", "ALL", "--", "/bin/true"}) words.emplace_back(word);
  return words;
}

std::vector<std::string> Helper(const std::string& workspace, const char* backend) {
  const std::string program = fs::path(HOLDFAST_BINARY).parent_path() / "holdfast-linux-sandbox";
  return {
      program, "--backend", backend, "--sandbox-policy-cwd", workspace, "--permission-profile", std::string(kProfile),
      "--",    "/bin/true"};
}

wire::ProcessStartParams Sandboxed(int number, const std::string& workspace) {
  auto params = StartParams(fmt::format("true-{}", number), {"/bin/true"}, Stdio::kNoInput);
  params.cwd = workspace;
  auto sandbox = wire::Sandbox::FromJson(
      fmt::format(R"({{"permissions":{},"cwd":"{}","windowsSandboxLevel":"disabled"}})", kProfile, workspace));
  Require(sandbox.has_value(), "the sandbox of the benchmark");
  params.sandbox = *std::move(sandbox);
  return params;
}

}  // namespace

void MeasureSandbox(Report& report) {
  const Workspace workspace;
  const Server server;
  Client client(server.url());
  std::vector<double> bubblewrap, native, by_bubblewrap, plain, exited;
  for (int i = 0; i < kWarmUps + kSamples; ++i) {
    const std::string& path = workspace.path();
    workspace.MakeProtected();
    const double bubblewrap_us = Spawn(BareBubblewrap(path));
    workspace.RemoveProtected();
    const double native_us = Spawn(Helper(path, "native")), by_bubblewrap_us = Spawn(Helper(path, "bubblewrap"));
    const auto in_server = StartParams(fmt::format("plain-{}", i), {"/bin/true"}, Stdio::kNoInput);
    const double plain_us = RunTrue(client, in_server).exited_us;
    const double exited_us = RunTrue(client, Sandboxed(i, path)).exited_us;
    if (i < kWarmUps) continue;
    bubblewrap.push_back(bubblewrap_us);
    native.push_back(native_us);
    by_bubblewrap.push_back(by_bubblewrap_us);
    plain.push_back(plain_us);
    exited.push_back(exited_us);
  }
  report.Add("sandbox_bare_p50", "us", "bare bubblewrap around /bin/true, p50", Median(bubblewrap));
  report.Add("sandbox_helper_bubblewrap_p50", "us", "helper, --backend bubblewrap, p50", Median(by_bubblewrap));
  report.Add("sandbox_helper_native_p50", "us", "helper, --backend native, p50", Median(native));
  report.Add("sandbox_helper_ratio", "x", "helper, native, over bare bubblewrap", Median(native) / Median(bubblewrap));
  report.Add("sandbox_plain_p50", "us", "through the server without a sandbox, start to exited, p50", Median(plain));
  report.Add("sandbox_server_p50", "us", "sandboxed through the server, start to exited, p50", Median(exited));
  report.Add("sandbox_server_p99", "us", "sandboxed through the server, start to exited, p99", Percentile(exited, 99));
}

// A memory of earlier searches does not trust the change times of the last two seconds.
void MeasureSandboxWorkspaces(Report& report) {
  const Workspace empty, small({.directories = 65, .files = 650}), large({.directories = 7'700, .files = 124'000});
  std::this_thread::sleep_for(std::chrono::seconds(3));
  const Server server;
  Client client(server.url());
  std::array<std::vector<double>, 3> exited;
  int number = 0;
  for (int i = 0; i < kWarmUps + kSamples; ++i) {
    for (size_t which = 0; const Workspace* workspace : {&empty, &small, &large}) {
      const double exited_us = RunTrue(client, Sandboxed(number++, workspace->path())).exited_us;
      if (i >= kWarmUps) exited[which].push_back(exited_us);
      ++which;
    }
  }
  const double in_empty = Median(exited[0]), in_small = Median(exited[1]), in_large = Median(exited[2]);
  report.Add("sandbox_empty_p50", "us", "sandboxed in an empty workspace, start to exited, p50", in_empty);
  report.Add("sandbox_small_p50", "us", "the same in 65 directories", in_small);
  report.Add("sandbox_large_p50", "us", "the same in 7 700 directories with 124 000 files", in_large);
  report.Add("sandbox_small_more", "us", "65 directories, beyond the empty workspace", in_small - in_empty);
  report.Add("sandbox_large_ratio", "x", "7 700 directories over the empty workspace", in_large / in_empty);
}

void MeasureSandboxRate(Report& report) {
  constexpr int kInFlight = 32, kCommands = 2000;
  const Workspace workspace;
  const Server server;
  Client client(server.url());
  for (int i = 0; i < kWarmUps; ++i) RunTrue(client, Sandboxed(i, workspace.path()));
  int started = 0, closed = 0;
  const auto start = [&] { client.Send<wire::ProcessStart>(Sandboxed(kWarmUps + started++, workspace.path())); };
  const auto begin = Clock::now();
  while (started < kInFlight) start();
  client.Receive([&](const Arrival& arrival) {
    if (!std::holds_alternative<wire::ProcessClosedParams>(arrival)) return Wanted::kMore;
    if (started < kCommands) start();
    return ++closed == kCommands ? Wanted::kNoMore : Wanted::kMore;
  });
  const double seconds = Microseconds(Clock::now() - begin) / 1e6;
  report.Add("sandbox_rate", "1/s", "sandboxed /bin/true, 32 in flight", kCommands / seconds);
}

}  // namespace holdfast::bench
