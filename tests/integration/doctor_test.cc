// Tests of the built `holdfast doctor`: what it reports is compared with what this machine does.
#include <linux/landlock.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/contents.h"
#include "support/eventually.h"
#include "support/proc.h"
#include "support/program.h"
#include "support/required_program.h"
#include "support/scratch_dir.h"
#include "support/server_process.h"
#include "wire/json.h"

namespace holdfast::support {
namespace {

namespace fs = std::filesystem;
using namespace std::string_view_literals;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Strings = std::vector<std::string>;

const std::string kHoldfast = HOLDFAST_BINARY;
const std::string kSandboxProgram = fs::path(kHoldfast).replace_filename("holdfast-linux-sandbox");

bool HasUserNamespaces() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(::unshare(CLONE_NEWUSER) == 0 ? 0 : 1);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// The doctor's report as JSON. The exit status must agree with it.
class Examined {
 public:
  explicit Examined(const Strings& words) : outcome_(Program(words).Finish()) {
    const auto json = document_.Parse(outcome_.out);
    EXPECT_TRUE(json.has_value()) << outcome_.out << outcome_.err;
    if (json) root_ = *json;
    EXPECT_EQ(outcome_.status, root_.Find("works").boolean().value_or(false) ? 0 : 1);
  }

  wire::Json operator[](std::string_view key) const { return root_.Find(key); }
  int status() const { return outcome_.status; }

  std::string Said(std::string_view thing, std::string_view key) const {
    return std::string(root_.Find(thing).Find(key).string().value_or("?"));
  }
  std::string StateOf(std::string_view namespace_name) const {
    return std::string(root_.Find("namespaces").Find(namespace_name).Find("state").string().value_or("?"));
  }
  wire::Json Policy(std::string_view name) const { return Named("policies", name); }
  wire::Json Backend(std::string_view name) const { return Named("backends", name); }
  Strings EnforcedBy(std::string_view name) const {
    Strings all;
    const wire::Json list = Policy(name).Find("enforcedBy");
    for (size_t i = 0; i < list.size(); ++i) all.emplace_back(*list.at(i).string());
    return all;
  }

 private:
  wire::Json Named(std::string_view list, std::string_view name) const {
    const wire::Json all = root_.Find(list);
    for (size_t i = 0; i < all.size(); ++i) {
      if (all.at(i).Find("name").string() == name) return all.at(i);
    }
    return {};
  }

  const Outcome outcome_;
  wire::Document document_;
  wire::Json root_;
};

// Installs a program under another name: as a link, or as a copy where the name is on another disk.
void Install(const std::string& program, const std::string& name) {
  std::error_code other_disk;
  fs::create_hard_link(program, name, other_disk);
  if (other_disk) fs::copy_file(program, name);
}

// This test program plays a bubblewrap that hangs. A program with these words in its file is considered a bubblewrap.
constexpr auto kOptions = "\0--perms\0--as-pid-1\0--ro-bind-data\0--args\0"sv;
constexpr char kHang[] = "HOLDFAST_DOCTOR_TEST_HANG";
[[maybe_unused]] const bool kHasHung = [] {
  while (std::getenv(kHang) != nullptr) ::pause();
  return false;
}();

TEST(DoctorTest, SaysWhatTheKernelSays) {
  const Examined doctor({kHoldfast, "doctor", "--json"});
  utsname names;
  ASSERT_EQ(::uname(&names), 0);
  EXPECT_EQ(doctor.Said("host", "kernel"), names.release);
  EXPECT_EQ(doctor["host"].Find("uid").uint64(), ::geteuid());
  const long abi = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  EXPECT_EQ(doctor["landlock"].Find("abi").uint64(), static_cast<uint64_t>(std::max(abi, 0l)));
  EXPECT_EQ(doctor.StateOf("user") == "ok", HasUserNamespaces());
  EXPECT_EQ(doctor["seccomp"].Find("filter").Find("state").string(), "ok");
  EXPECT_EQ(doctor["policies"].size(), 7u);
}

TEST(DoctorTest, EveryPolicyHoldsWhereThereAreUserNamespaces) {
  if (!HasUserNamespaces()) GTEST_SKIP() << "no user namespaces here";
  const Examined doctor({kHoldfast, "doctor", "--json"});
  EXPECT_EQ(doctor.status(), 0);
  for (const char* name : {"read-only", "workspace-write", "network", "no-proc", "proxy"}) {
    EXPECT_EQ(doctor.Policy(name).Find("state").string(), "ok") << name;
    EXPECT_THAT(doctor.EnforcedBy(name), testing::IsSupersetOf({"mounts", "filter", "pidNamespace"})) << name;
  }
  const bool landlock = doctor["landlock"].Find("abi").uint64() != 0u;
  EXPECT_EQ(std::ranges::count(doctor.EnforcedBy("read-only"), "landlock"), landlock ? 1 : 0);
  EXPECT_THAT(doctor.EnforcedBy("read-only"), testing::Contains("networkNamespace"));
  EXPECT_THAT(doctor.EnforcedBy("network"), Not(testing::Contains("networkNamespace")));
}

TEST(DoctorTest, ShowsEveryBackend) {
  if (!HasUserNamespaces()) GTEST_SKIP() << "no user namespaces here";
  const Examined doctor({kHoldfast, "doctor", "--json"});
  ASSERT_EQ(doctor["backends"].size(), 3u);
  for (const char* name : {"native", "bubblewrap", "landlock"}) {
    EXPECT_EQ(doctor.Backend(name).Find("state").string(), "ok") << name;
  }
  const std::string text = Program({kHoldfast, "doctor"}).Finish().out;
  EXPECT_THAT(text,
              AllOf(HasSubstr("\nbackends                    auto is native\n  native          ok        mounts, "),
                    HasSubstr("\n  bubblewrap      ok        mounts, "), HasSubstr("\n  landlock        ok        ")));
}

TEST(DoctorTest, SaysWhyABackendDoesNotWorkAndWhatToDo) {
  if (!HasUserNamespaces()) GTEST_SKIP() << "no user namespaces here";
  const Strings words = {"/bin/sh", "-c",
                         "exec unshare -Ur sh -c 'echo 0 > /proc/sys/user/max_mnt_namespaces; exec \"$@\"' sh \"$0\" "
                         "doctor \"$@\"",
                         kHoldfast};
  Strings with_json = words;
  with_json.emplace_back("--json");
  const Examined doctor(with_json);
  EXPECT_EQ(doctor.status(), 1);
  for (const char* name : {"native", "bubblewrap"}) {
    EXPECT_EQ(doctor.Backend(name).Find("state").string(), "refused") << name;
    EXPECT_THAT(std::string(doctor.Backend(name).Find("detail").string().value_or("")),
                HasSubstr("Set user.max_mnt_namespaces to more than 0"));
  }
  EXPECT_EQ(doctor.Backend("landlock").Find("state").string(), "ok");
  EXPECT_THAT(Program(words).Finish().out,
              HasSubstr("\nbackends                    none that auto could choose works\n"));
}

TEST(DoctorTest, TheTextIsAlignedAndEndsWithTheVerdict) {
  const Outcome outcome = Program({kHoldfast, "doctor"}).Finish();
  EXPECT_THAT(outcome.err, IsEmpty());
  std::string_view text = outcome.out;
  ASSERT_THAT(outcome.out, EndsWith("\n"));
  text.remove_suffix(1);
  EXPECT_THAT(std::string(text.substr(text.rfind('\n') + 1)),
              testing::StartsWith(outcome.status == 0 ? "The sandbox works here" : "The sandbox does not work here"));
  for (const std::string_view name : {"\nbubblewrap", "\nLandlock", "\nread-only", "\n  fresh /proc"}) {
    const size_t start = text.find(name);
    ASSERT_NE(start, std::string_view::npos) << name;
    const std::string_view state = text.substr(start + 1 + 18, 10);
    EXPECT_TRUE(state.starts_with("ok") || state.starts_with("missing") || state.starts_with("refused")) << state;
  }
}

TEST(DoctorTest, LeavesNothingBehind) {
  const ScratchDir scratch;
  const std::string mark = fmt::format("HOLDFAST_DOCTOR_TEST={}", scratch.path());
  (void)Program({"/usr/bin/env", mark, "TMPDIR=" + scratch.path(), kHoldfast, "doctor"}).Finish();
  EXPECT_THAT(LivingWithVariable(mark), IsEmpty());
  EXPECT_TRUE(fs::is_empty(scratch.path()));
}

TEST(DoctorTest, SaysThatUserNamespacesAreSwitchedOff) {
  if (!HasUserNamespaces()) GTEST_SKIP() << "no user namespaces here to switch off";
  const Examined doctor({"/bin/sh", "-c",
                         "exec unshare -Ur sh -c 'echo 0 > /proc/sys/user/max_user_namespaces; exec \"$0\" doctor "
                         "--json' \"$0\"",
                         kHoldfast});
  EXPECT_EQ(doctor.status(), 1);
  EXPECT_EQ(doctor.StateOf("user"), "refused");
  EXPECT_EQ(doctor.Policy("read-only").Find("state").string(), "refused");
  EXPECT_THAT(std::string(doctor["summary"].string().value_or("")), HasSubstr("user.max_user_namespaces"));
}

// The test covers a part of /proc as containers do.
TEST(DoctorTest, SaysThatProcIsCovered) {
  if (!HasUserNamespaces()) GTEST_SKIP() << "no user namespaces here";
  const Examined doctor({"/bin/sh", "-c",
                         "exec unshare -Urm sh -c 'mount -t tmpfs cover /proc/fs && exec \"$0\" doctor --json' \"$0\"",
                         kHoldfast});
  EXPECT_EQ(doctor.status(), 1);
  EXPECT_EQ(doctor.StateOf("user"), "ok");
  EXPECT_EQ(doctor.StateOf("freshProc"), "refused");
  EXPECT_THAT(std::string(doctor["summary"].string().value_or("")), HasSubstr("--no-proc"));
  EXPECT_EQ(doctor.Policy("no-proc").Find("state").string(), "ok");
}

TEST(DoctorTest, KnowsThatItIsInASandbox) {
  if (!HasUserNamespaces()) GTEST_SKIP() << "no user namespaces here";
  const Examined doctor({kHoldfast, "sandbox", "--read-only", "-C", "/", "--", kHoldfast, "doctor", "--json"});
  EXPECT_EQ(doctor.status(), 1);
  EXPECT_EQ(doctor["host"].Find("inSandbox").boolean(), true);
  EXPECT_EQ(doctor.StateOf("user"), "refused");
  EXPECT_THAT(std::string(doctor["summary"].string().value_or("")), HasSubstr("in a sandbox itself"));
}

TEST(DoctorTest, WithoutAPathTheBundledBubblewrapIsTheOne) {
  const Examined doctor({"/usr/bin/env", "PATH=", kHoldfast, "doctor", "--json"});
  EXPECT_EQ(doctor.Said("bubblewrap", "source"), "bundled");
  EXPECT_EQ(doctor.Said("bundledBubblewrap", "state"), "ok");
  EXPECT_EQ(doctor.status() == 0, HasUserNamespaces());
}

TEST(DoctorTest, ABundledBubblewrapThatIsAnotherIsRefused) {
  const ScratchDir scratch;
  scratch.Write("holdfast-resources/bwrap", "another", 0755);
  const std::string program = scratch.path() + "/holdfast";
  Install(kHoldfast, program);
  Install(kSandboxProgram, scratch.path() + "/holdfast-linux-sandbox");
  const Examined doctor({program, "doctor", "--json"});
  EXPECT_EQ(doctor.Said("bundledBubblewrap", "state"), "refused");
  EXPECT_THAT(doctor.Said("bundledBubblewrap", "detail"), HasSubstr("sha256"));
}

TEST(DoctorTest, AMissingSandboxProgramIsWhatIsWrong) {
  const ScratchDir scratch;
  const std::string program = scratch.path() + "/holdfast";
  const std::string missing = scratch.path() + "/holdfast-linux-sandbox is missing";
  Install(kHoldfast, program);
  const Examined doctor({program, "doctor", "--json"});
  EXPECT_EQ(doctor.status(), 1);
  EXPECT_EQ(doctor.Said("sandboxProgram", "state"), "missing");
  EXPECT_THAT(doctor.Said("sandboxProgram", "detail"), testing::StartsWith(missing));
  EXPECT_THAT(std::string(doctor["summary"].string().value_or("")), HasSubstr(missing));
  EXPECT_EQ(doctor.Policy("read-only").Find("state").string(), "missing");
  EXPECT_THAT(Program({program, "doctor"}).Finish().out, HasSubstr("\nsandbox program   missing   " + missing));
  EXPECT_THAT(Program({program, "doctor", "--startup"}).Finish().out, HasSubstr(missing));
}

TEST(DoctorTest, TheSandboxProgramBesideIsTheOneThatIsTried) {
  const ScratchDir scratch;
  const std::string program = scratch.path() + "/holdfast";
  Install(kHoldfast, program);
  scratch.Write("holdfast-linux-sandbox", "#!/bin/sh\necho 'this one was run' >&2\nexit 1\n", 0755);
  const Examined doctor({program, "doctor", "--json"});
  EXPECT_EQ(doctor.Said("sandboxProgram", "state"), "ok");
  EXPECT_EQ(doctor.Policy("read-only").Find("detail").string(), "this one was run");
}

// The hanging program is mounted over the system's bubblewrap, and no other one is tried. Its file has the options of a
// real one.
TEST(DoctorTest, ABubblewrapThatHangsIsGivenUp) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can mount";
  if (!RequireProgram("bwrap")) return;
  const ScratchDir scratch;
  const std::string hanging = scratch.path() + "/bwrap", system = fs::canonical("/usr/bin/bwrap");
  Install(fs::read_symlink("/proc/self/exe"), hanging);
  ASSERT_TRUE(Contents("/proc/self/exe").contains(kOptions));
  const std::string mark = fmt::format("{}={}", kHang, scratch.path());
  const auto start = std::chrono::steady_clock::now();
  const Examined doctor({"/usr/bin/unshare", "--mount", "/usr/bin/env", mark, "/bin/sh", "-c",
                         fmt::format("mount --bind {} {} && exec {} doctor --json", hanging, system, kHoldfast)});
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(40));
  EXPECT_EQ(doctor.Said("bubblewrap", "path"), system);
  EXPECT_EQ(doctor.Backend("bubblewrap").Find("state").string(), "refused");
  EXPECT_EQ(doctor.Backend("bubblewrap").Find("detail").string(), "it did not end in time");
  EXPECT_THAT(LivingWithVariable(mark), IsEmpty());
}

// The native backend may work here, but the operator wants bubblewrap.
TEST(DoctorTest, AServerThatWantsBubblewrapSaysThatItUsesTheBundledOne) {
  const ScratchDir scratch;
  const std::string log_file = scratch.path() + "/log";
  Program server({"/usr/bin/env", "PATH=" + scratch.path(), "/bin/sh", "-c",
                  fmt::format("exec {} exec-server --sandbox-check=true --sandbox-backend bubblewrap --listen "
                              "unix://{}/socket 2> {}",
                              kHoldfast, scratch.path(), log_file)});
  server.AwaitOutput("unix://");
  const auto log = [&] { return Contents(log_file); };
  EXPECT_TRUE(Eventually([&] { return log().contains("There is no usable bwrap on PATH, so the bundled "); })) << log();
  EXPECT_THAT(log(), AllOf(HasSubstr("sandbox.limited"), HasSubstr("/holdfast-resources/bwrap is used.")));
}

// This server can make no namespaces.
TEST(DoctorTest, AServerWarnsAtItsStart) {
  if (!HasUserNamespaces()) GTEST_SKIP() << "no user namespaces here to switch off";
  const ScratchDir scratch;
  const std::string log_file = scratch.path() + "/log";
  Program server({"/usr/bin/unshare", "-Ur", "/bin/sh", "-c",
                  fmt::format("echo 0 > /proc/sys/user/max_mnt_namespaces && exec {} exec-server --sandbox-check=true "
                              "--listen unix://{}/socket 2> {}",
                              kHoldfast, scratch.path(), log_file)});
  server.AwaitOutput("unix://");
  const auto log = [&] { return Contents(log_file); };
  EXPECT_TRUE(Eventually([&] { return log().contains("bubblewrap cannot make a sandbox here"); })) << log();
  EXPECT_THAT(log(), AllOf(HasSubstr("sandbox.limited"), HasSubstr("The native backend"),
                           HasSubstr("user.max_mnt_namespaces")));
  EXPECT_TRUE(Eventually([&] { return ChildrenOf(server.pid()).empty(); }));
}

}  // namespace
}  // namespace holdfast::support
