#include "sandbox/native/mount_builder.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/native/namespaces.h"
#include "sandbox/native/trial.h"
#include "sandbox/plan/make_plan.h"
#include "sandbox/policy/policy.h"
#include "sandbox/resolve/resolve.h"
#include "support/scratch_dir.h"
#include "sys/io.h"
#include "sys/read_link.h"

namespace holdfast::sandbox {
namespace {

namespace fs = std::filesystem;
using std::string_literals::operator""s;
using testing::HasSubstr;

// The body of a child tells what it finds as text; an empty text means that everything is as it should be.
using Body = std::function<std::string()>;

std::string ErrnoOf(int result) { return result < 0 ? ErrnoText(errno) : "done"; }

std::string Write(const std::string& path) {
  return ErrnoOf(OwnedFd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644)).get());
}

bool IsReadOnly(const std::string& path) {
  struct statvfs status;
  return ::statvfs(path.c_str(), &status) == 0 && (status.f_flag & ST_RDONLY) != 0;
}

// A Neighbour is a process in the mount namespace of the test, which does `act` each time it is asked.
class Neighbour {
 public:
  explicit Neighbour(const std::function<void()>& act) : pid_(::fork()) {
    if (pid_ != 0) return;
    for (char letter; sys::Read(asked_->read_end.get(), &letter, 1) == 1;) {
      act();
      (void)sys::Write(done_->write_end.get(), &letter, 1);
    }
    ::_exit(0);
  }
  ~Neighbour() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Neighbour(const Neighbour&) = delete;
  Neighbour& operator=(const Neighbour&) = delete;

  // Returns when the act is done. Other processes can ask as well.
  void Ask() const {
    char letter = 'a';
    (void)sys::Write(asked_->write_end.get(), &letter, 1);
    (void)sys::Read(done_->read_end.get(), &letter, 1);
  }

 private:
  Result<sys::Pipe> asked_ = sys::MakePipe(sys::OurEnd::kWrite), done_ = sys::MakePipe(sys::OurEnd::kWrite);
  pid_t pid_;
};

class MountBuilderTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto failure = TryNative({})) GTEST_SKIP() << "the native backend does not work here: " << Text(*failure);
    for (const char* const file : {"place/file", "place/kept/file", "secret/file", "other/file"})
      scratch_.Write(file, "text");
  }

  std::string In(const std::string& name) const { return scratch_.path() + "/" + name; }

  // The function is noexcept, because an exception must not lead the child back into the test.
  [[noreturn]] static void RunInChild(const Body& body, const User& user, int out) noexcept {
    const auto settled = SettleIn(user);
    const std::string text = settled ? body() : Error(settled.error()).message;
    (void)sys::Write(out, text.data(), text.size());
    ::_exit(0);
  }

  // Runs `body` as pid 1 of namespaces of its own, and returns its text.
  static std::string InNamespaces(const Body& body) {
    auto pipe = sys::MakePipe(sys::OurEnd::kRead);
    const User user = User::OfThisProcess();
    auto child = CloneInto(CLONE_NEWUSER | kOwnNamespaces);
    if (!child) return Error(child.error()).message;
    if (child->pid == 0) RunInChild(body, user, pipe->write_end.get());
    pipe->write_end.Reset();
    ::waitpid(child->pid, nullptr, 0);
    char text[4096];
    const ssize_t size = sys::Read(pipe->read_end.get(), text, sizeof text);
    return {text, static_cast<size_t>(std::max<ssize_t>(size, 0))};
  }

  // Builds the mounts of a plan, after `meanwhile` has run, and returns what `body` finds then, or why it failed.
  static std::string Inside(const std::vector<Mount>& mounts, const Body& body,
                            const std::function<void()>& meanwhile = {}) {
    NamespacePlan plan;
    plan.mounts = mounts;
    const auto noted = NoteMounts(plan, PlaceholderState::kMissing);
    if (!noted) return noted.error().message;
    if (meanwhile) meanwhile();
    return InNamespaces([&] {
      const auto built = MountBuilder(plan, *noted).BuildAll(-1);
      return built ? body() : built.error().message;
    });
  }

  support::ScratchDir scratch_;
};

TEST_F(MountBuilderTest, MakesTheRootReadOnlyInPlace) {
  EXPECT_EQ(Inside({ReadOnlyBind{"/"}}, [&] { return Write(In("new")); }), "Read-only file system");
}

TEST_F(MountBuilderTest, ABoundPlaceIsWritableAndAPlaceInItReadOnly) {
  const std::vector<Mount> mounts = {ReadOnlyBind{"/"}, WritableBind{In("place")}, ReadOnlyBind{In("place/kept")}};
  EXPECT_EQ(Inside(mounts, [&] { return Write(In("place/new")) + ", " + Write(In("place/kept/new")); }),
            "done, Read-only file system");
}

TEST_F(MountBuilderTest, APinnedDirectoryCannotBeRenamed) {
  const std::vector<Mount> mounts = {ReadOnlyBind{"/"}, WritableBind{In("place")}, PinnedBind{In("place/kept")}};
  const auto rename = [&] { return ErrnoOf(::rename(In("place/kept").c_str(), In("place/moved").c_str())); };
  EXPECT_EQ(Inside(mounts, rename), "Device or resource busy");
}

std::string Rename(const std::string& from, const std::string& to) {
  return ErrnoOf(::rename(from.c_str(), to.c_str()));
}

// A held directory cannot be moved, but it is no mount: files go in and out.
TEST_F(MountBuilderTest, AHeldDirectoryStaysAndFilesMoveAcrossIt) {
  scratch_.Write("place/kept/below/file", "text");
  for (const Mount& first : {Mount(ReadOnlyBind{"/"}), Mount(EmptyRoot{})}) {
    const std::vector<Mount> mounts = {first, PrivateDev{}, WritableBind{In("place")}, HeldDirectory{In("place/kept")},
                                       HeldDirectory{In("place/kept/below")}};
    EXPECT_EQ(Inside(mounts,
                     [&] {
                       const std::string kept = In("place/kept"), moved = In("place/moved"), other = In("place/other");
                       const std::string there = Rename(kept + "/below/file", moved);
                       return Rename(kept, other) + ", " + Rename(kept + "/below", other) + ", " +
                              ErrnoOf(::rmdir((kept + "/below").c_str())) + ", " + there + ", " +
                              ErrnoOf(::link(moved.c_str(), (kept + "/new").c_str())) + ", " +
                              Rename(moved, kept + "/below/file") + ", " + ErrnoOf(::unlink((kept + "/new").c_str()));
                     }),
              "Device or resource busy, Device or resource busy, Device or resource busy, done, done, done, done");
  }
}

TEST_F(MountBuilderTest, DevIsPrivateOnTopOfHeldDirectories) {
  const std::vector<Mount> mounts = {ReadOnlyBind{"/"}, PrivateDev{}, WritableBind{In("place")},
                                     HeldDirectory{In("place/kept")}};
  EXPECT_EQ(Inside(mounts,
                   [&] {
                     const bool shows_kept = fs::exists("/dev/file"), has_null = fs::exists("/dev/null");
                     const bool shows_places = fs::exists("/dev/0") || fs::exists("/dev/../dev/0");
                     return std::to_string(shows_kept) + std::to_string(has_null) +
                            std::to_string(fs::exists("/dev/../dev/file")) + std::to_string(shows_places);
                   }),
            "0100");
}

// The kernel detaches what is mounted on a directory when a process in another mount namespace removes it, with all
// that is mounted below that.
TEST_F(MountBuilderTest, ADirectoryThatIsRemovedOutsideTakesNoOtherHoldAndNoDeviceAway) {
  for (const Mount& first : {Mount(ReadOnlyBind{"/"}), Mount(EmptyRoot{})}) {
    for (const char* const name : {"place/first", "place/last", "place/kept/below"}) fs::create_directories(In(name));
    const std::vector<Mount> mounts = {first,
                                       PrivateDev{},
                                       WritableBind{In("place")},
                                       HeldDirectory{In("place/first")},
                                       HeldDirectory{In("place/kept")},
                                       HeldDirectory{In("place/kept/below")},
                                       HeldDirectory{In("place/last")}};
    const Neighbour neighbour([&] {
      ::rmdir(In("place/first").c_str());
      ::rmdir(In("place/kept/below").c_str());
    });
    EXPECT_EQ(Inside(mounts,
                     [&] {
                       const std::string before = Rename(In("place/first"), In("place/moved"));
                       neighbour.Ask();
                       return before + ", " + std::to_string(fs::exists(In("place/first"))) +
                              std::to_string(fs::exists(In("place/kept/below"))) + ", " +
                              Rename(In("place/kept"), In("place/moved")) + ", " +
                              Rename(In("place/last"), In("place/moved")) + ", " + Write("/dev/null") + ", " +
                              Write("/dev/shm/new");
                     }),
              "Device or resource busy, 00, Device or resource busy, Device or resource busy, done, done");
  }
}

TEST_F(MountBuilderTest, ChangesOutsideTakeNoCoverFromFilesThatRemain) {
  for (const char* const file : {"place/gone/one", "place/gone/two", "place/from/deep/file", "place/last/file"})
    scratch_.Write(file, "text");
  std::vector<Mount> mounts = {ReadOnlyBind{"/"}, PrivateDev{}, WritableBind{In("place")}};
  for (const char* const name : {"place/gone", "place/from", "place/from/deep", "place/last"})
    mounts.emplace_back(HeldDirectory{In(name)});
  for (const char* const name : {"place/gone/one", "place/gone/two", "place/from/deep/file", "place/last/file"})
    mounts.emplace_back(EmptyFile{In(name), 0444});
  const Neighbour neighbour([&] {
    fs::remove_all(In("place/gone"));
    fs::rename(In("place/from/deep"), In("place/to"));
    fs::remove(In("place/from"));
  });
  EXPECT_EQ(Inside(mounts,
                   [&] {
                     neighbour.Ask();
                     std::error_code unknown;
                     return std::to_string(fs::exists(In("place/gone")) || fs::exists(In("place/from"))) + ", " +
                            std::to_string(fs::file_size(In("place/to/file"), unknown)) + ", " +
                            std::to_string(fs::file_size(In("place/last/file"), unknown)) + ", " +
                            Rename(In("place/to"), In("place/moved")) + ", " +
                            Rename(In("place/last"), In("place/moved"));
                   }),
            "0, 0, 0, Device or resource busy, Device or resource busy");
}

TEST_F(MountBuilderTest, RefusesAHeldDirectoryThatWasReplaced) {
  const std::vector<Mount> mounts = {ReadOnlyBind{"/"}, PrivateDev{}, WritableBind{In("place")},
                                     HeldDirectory{In("place/kept")}};
  EXPECT_THAT(Inside(
                  mounts, [] { return std::string("built"); },
                  [&] {
                    fs::rename(In("place/kept"), In("place/moved"));
                    fs::create_directory(In("place/kept"));
                  }),
              HasSubstr("has been replaced in the meantime"));
}

TEST_F(MountBuilderTest, APinnedLinkLeadsWhereItDidAndCannotBeReplaced) {
  fs::create_symlink("kept", In("place/link"));
  const std::vector<Mount> mounts = {ReadOnlyBind{"/"}, WritableBind{In("place")}, PinnedLink{In("place/link")}};
  EXPECT_EQ(Inside(mounts,
                   [&] {
                     const std::string link = In("place/link"), other = In("place/other");
                     (void)::symlink("nothing", other.c_str());
                     return Rename(link, In("place/moved")) + ", " + Rename(other, link) + ", " +
                            ErrnoOf(::unlink(link.c_str())) + ", " + sys::ReadLink(link).value_or("gone") + ", " +
                            Write(link + "/file");
                   }),
            "Device or resource busy, Device or resource busy, Device or resource busy, kept, done");
}

TEST_F(MountBuilderTest, RefusesALinkThatWasReplaced) {
  fs::create_symlink("kept", In("place/link"));
  const std::vector<Mount> mounts = {ReadOnlyBind{"/"}, WritableBind{In("place")}, PinnedLink{In("place/link")}};
  EXPECT_THAT(Inside(
                  mounts, [] { return std::string("built"); },
                  [&] {
                    fs::create_symlink("kept", In("place/other"));
                    fs::rename(In("place/other"), In("place/link"));
                  }),
              HasSubstr("has been replaced in the meantime"));
}

TEST_F(MountBuilderTest, CoversADirectoryAndAFile) {
  const std::vector<Mount> mounts = {ReadOnlyBind{"/"}, EmptyDirectory{In("secret"), 0555}, Seal{In("secret")},
                                     EmptyFile{In("other/file"), 0444}, EmptyFile{In("place/file"), 0444}};
  EXPECT_EQ(Inside(mounts,
                   [&] {
                     if (!fs::is_empty(In("secret"))) return std::string("the directory shows files");
                     if (fs::file_size(In("other/file")) != 0 || fs::file_size(In("place/file")) != 0)
                       return std::string("a file has content");
                     return std::to_string(IsReadOnly(In("secret"))) + std::to_string(IsReadOnly(In("other/file")));
                   }),
            "11");
}

TEST_F(MountBuilderTest, OpensAWayThroughACoveredDirectory) {
  scratch_.Write("secret/deep/open/file", "text");
  const std::vector<Mount> mounts = {ReadOnlyBind{"/"},
                                     EmptyDirectory{In("secret"), 0111},
                                     MakeDirectory{In("secret/deep")},
                                     WritableBind{In("secret/deep/open")},
                                     Symlink{In("secret/link"), "deep"},
                                     Seal{In("secret")}};
  EXPECT_EQ(Inside(mounts,
                   [&] {
                     return Write(In("secret/link/open/new")) + ", " + Write(In("secret/new")) + ", " +
                            std::to_string(fs::exists(In("secret/file")));
                   }),
            "done, Read-only file system, 0");
}

TEST_F(MountBuilderTest, AnEmptyRootHasOnlyWhatIsBound) {
  const std::vector<Mount> mounts = {
      EmptyRoot{}, PrivateDev{}, FreshProc{}, WritableBind{In("place")}, ReadOnlyBind{In("other/file")}, Seal{"/"}};
  EXPECT_EQ(Inside(mounts,
                   [&] {
                     return Write(In("place/new")) + ", " + Write(In("other/file")) + ", " + Write("/new") + ", " +
                            std::to_string(fs::exists(In("secret"))) + std::to_string(fs::exists("/proc/self"));
                   }),
            "done, Read-only file system, Read-only file system, 01");
}

TEST_F(MountBuilderTest, NodesOfTheirOwnDevCanBeUsedAndNotChanged) {
  const std::vector<Mount> mounts = {ReadOnlyBind{"/"}, PrivateDev{}, FreshProc{}};
  EXPECT_EQ(Inside(mounts,
                   [&] {
                     const OwnedFd null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
                     return ErrnoOf(static_cast<int>(::write(null.get(), "x", 1))) + ", " +
                            ErrnoOf(::chmod("/dev/null", 0600)) + ", " + Write("/dev/shm/new") + ", " +
                            Write("/dev/new");
                   }),
            "done, Read-only file system, done, Read-only file system");
}

// What the sandbox has mounted there itself is not the file that was noted outside.
TEST_F(MountBuilderTest, MountsOnItsOwnFileSystems) {
  const std::vector<Mount> mounts = {ReadOnlyBind{"/"}, PrivateDev{},
                                     FreshProc{},       EmptyDirectory{"/dev/shm", 0555},
                                     Seal{"/dev/shm"},  EmptyDirectory{"/proc/sys", 0555},
                                     Seal{"/proc/sys"}};
  EXPECT_EQ(Inside(mounts, [] { return Write("/dev/shm/new") + ", " + Write("/proc/sys/new"); }),
            "Read-only file system, Read-only file system");
  EXPECT_EQ(Inside({ReadOnlyBind{"/"}, PrivateDev{}, WritableBind{"/dev/shm"}},
                   [] { return ErrnoOf(::access("/dev/shm", W_OK)); }),
            "done");
}

TEST_F(MountBuilderTest, TheFreshProcIsThatOfThePidNamespace) {
  EXPECT_EQ(Inside({ReadOnlyBind{"/"}, FreshProc{}}, [] { return fs::read_symlink("/proc/self").string(); }), "1");
}

TEST_F(MountBuilderTest, RefusesALinkInThePlaceOfADirectory) {
  const auto swap = [&] {
    fs::rename(In("place"), In("was"));
    fs::create_directory_symlink(In("secret"), In("place"));
  };
  EXPECT_THAT(Inside(
                  {ReadOnlyBind{"/"}, WritableBind{In("place")}}, [] { return "built"; }, swap),
              HasSubstr("replaced in the meantime"));
}

TEST_F(MountBuilderTest, RefusesAnotherDirectoryInTheSamePlace) {
  const auto swap = [&] {
    fs::rename(In("place"), In("was"));
    fs::rename(In("secret"), In("place"));
  };
  EXPECT_THAT(Inside(
                  {ReadOnlyBind{"/"}, WritableBind{In("place")}}, [] { return "built"; }, swap),
              HasSubstr("replaced in the meantime"));
}

TEST_F(MountBuilderTest, MakesNoMountPointOutsideOfItsOwnFileSystems) {
  const auto remove = [&] { fs::remove_all(In("place/kept")); };
  const std::vector<Mount> mounts = {ReadOnlyBind{"/"}, WritableBind{In("place")}, ReadOnlyBind{In("place/kept")}};
  EXPECT_THAT(Inside(mounts, [] { return "built"; }, remove), HasSubstr("replaced in the meantime"));
  EXPECT_FALSE(fs::exists(In("place/kept")));
}

// The name of the directory leads to another one when the placeholder is made, so the directory that is bound would
// have no cover.
TEST_F(MountBuilderTest, RefusesAPlaceholderInAnotherDirectoryThanTheOneNoted) {
  const auto cover = [&](const std::function<void()>& meanwhile) {
    NamespacePlan plan;
    plan.mounts = {ReadOnlyBind{"/"}, WritableBind{scratch_.path()}, WritableBind{In("place")},
                   EmptyDirectory{In("place/.git"), 0555}, Seal{In("place/.git")}};
    plan.placeholders = {{.path = In("place/.git")}};
    const auto noted = NoteMounts(plan, PlaceholderState::kMissing);
    auto placeholders = Placeholders::Prepare(plan.placeholders);
    if (!noted || !placeholders || !placeholders->LeaveToReaper()) return std::string("not prepared");
    return InNamespaces([&] {
      const MountBuilder builder(plan, *noted);
      if (const auto built = builder.BuildAll(-1); !built) return built.error().message;
      meanwhile();
      const auto held = MakeAsFirstProcess(plan.placeholders, {.reaper = placeholders->reaper()});
      if (!held) return held.error().message;
      const auto covered = builder.Cover(*held);
      return covered ? "covered, " + Write(In("place/.git/new")) : covered.error().message;
    });
  };
  EXPECT_EQ(cover([] {}), "covered, Read-only file system");
  // A mount point can be renamed in another mount namespace.
  const Neighbour neighbour(
      [&] { ::renameat2(AT_FDCWD, In("place").c_str(), AT_FDCWD, In("other").c_str(), RENAME_EXCHANGE); });
  EXPECT_THAT(cover([&] { neighbour.Ask(); }), HasSubstr("replaced in the meantime"));
}

TEST_F(MountBuilderTest, ATemplateLeavesOutWhatEachCommandHasForItself) {
  NamespacePlan plan;
  plan.mounts = {ReadOnlyBind{"/"}, PrivateDev{}, FreshProc{}};
  EXPECT_EQ(InNamespaces([&] {
              const MountBuilder builder(plan, {});
              if (const auto built = builder.BuildTemplate(); !built) return built.error().message;
              const std::string before = Write("/dev/shm/new");
              if (const auto built = builder.BuildOwn(-1); !built) return built.error().message;
              return before + ", " + Write("/dev/shm/new") + ", " + fs::read_symlink("/proc/self").string();
            }),
            "Read-only file system, done, 1");
}

// The mounts of whole policies. The names that are always protected exist, so that no placeholder is needed.
class NativePolicyTest : public MountBuilderTest {
 protected:
  void SetUp() override {
    MountBuilderTest::SetUp();
    for (const char* const name : {".git", ".codex", ".agents", ".aws"}) fs::create_directories(In("ws/") + name);
  }

  std::vector<Mount> Mounts() const {
    const std::string ws = fs::canonical(In("ws")).string();
    Policy policy;
    policy.files = Policy::Files{.entries = {{.where = Place{.kind = PlaceKind::kRoot}, .access = Access::kRead},
                                             {.where = AbsolutePath{ws}, .access = Access::kWrite},
                                             {.where = Pattern{"**/*.env"}, .access = Access::kDeny}},
                                 .glob_scan_max_depth = {}};
    const auto resolution = Resolve(policy, {.policy_cwd = ws, .project_roots = {}, .tmpdir = {}});
    EXPECT_TRUE(resolution) << resolution.error().message;
    const auto plan =
        MakePlan(resolution.value_or(Resolution()), {.command_cwd = ws, .mounts_by = MountsBy::kDescriptor});
    EXPECT_TRUE(plan) << plan.error().message;
    return plan.value_or(NamespacePlan()).mounts;
  }
};

TEST_F(NativePolicyTest, FilesMoveAcrossTheDirectoriesOfADeniedFileWhichStayWhereTheyAre) {
  scratch_.Write("ws/app/conf/x.env", "secret");
  scratch_.Write("ws/app/conf/note", "text");
  const Body act = [&] {
    const std::string ws = In("ws"), conf = In("ws/app/conf");
    std::error_code unknown;
    if (fs::file_size(conf + "/x.env", unknown) != 0) return "the denied file is not covered"s;
    return Rename(conf + "/note", ws + "/note") + ", " +
           ErrnoOf(::link((ws + "/note").c_str(), (conf + "/l").c_str())) + ", " +
           Rename(ws + "/note", conf + "/note") + ", " + ErrnoOf(::unlink((conf + "/l").c_str())) + ", " +
           Rename(ws + "/app", ws + "/web") + ", " + Rename(conf, ws + "/conf");
  };
  for (const char* const command : {"this", "the next"}) {
    EXPECT_EQ(Inside(Mounts(), act), "done, done, done, done, Device or resource busy, Device or resource busy")
        << command << " command";
  }
}

TEST_F(NativePolicyTest, GitDirectoryOfANestedRepositoryElsewhereIsProtected) {
  for (const char* const name : {"objects", "refs", "hooks"}) fs::create_directories(In("ws/area/store/") + name);
  scratch_.Write("ws/area/store/HEAD", "ref: refs/heads/main");
  scratch_.Write("ws/file/.git", "gitdir: ../area/store");
  fs::create_directories(In("ws/link"));
  fs::create_symlink("../area/store", In("ws/link/.git"));
  EXPECT_EQ(Inside(Mounts(),
                   [&] {
                     const std::string ws = In("ws"), hook = "/hooks/pre-commit";
                     return Write(ws + "/area/store" + hook) + ", " + Write(ws + "/link/.git" + hook) + ", " +
                            ErrnoOf(::unlink((ws + "/link/.git").c_str())) + ", " + Rename(ws + "/link", ws + "/new") +
                            ", " + Rename(ws + "/area", ws + "/new") + ", " + Write(ws + "/area/new");
                   }),
            "Read-only file system, Read-only file system, Device or resource busy, Device or resource busy, "
            "Device or resource busy, done");
}

}  // namespace
}  // namespace holdfast::sandbox
