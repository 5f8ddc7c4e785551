#include "sandbox/bubblewrap/bubblewrap.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/sha256.h"
#include "support/required_program.h"
#include "support/scratch_dir.h"

namespace holdfast::sandbox {
namespace {

using namespace std::string_literals;
using testing::ElementsAre;
using testing::ElementsAreArray;
using Strings = std::vector<std::string>;

// The text by which a bubblewrap that has the needed options is recognized.
const std::string kOptions = "\0--perms\0--as-pid-1\0--ro-bind-data\0--args\0"s;

std::string Digest(std::string_view text) {
  Sha256 sha;
  sha.Update(std::as_bytes(std::span(text)));
  return sha.HexDigest();
}

class FindBubblewrapTest : public testing::Test {
 protected:
  // Writes a program into `directory` of the scratch directory and returns its path.
  std::string Program(const std::string& directory, const std::string& text = kOptions, mode_t mode = 0755) {
    return scratch_.Write(directory + "/bwrap", text, mode);
  }
  std::string In(const std::string& name) const { return root_ + "/" + name; }

  BubblewrapSearch Search(std::string path_variable) const {
    return {.path_variable = std::move(path_variable),
            .untrusted = {In("cwd")},
            .trust = {.owner = ::geteuid(), .top = root_, .only_in = {}},
            .own_directory = In("own"),
            .bundled_sha256 = ""};
  }

  static std::string Found(const BubblewrapSearch& search) {
    const auto found = FindBubblewrap(search);
    return found ? found->path : found.error().message;
  }
  std::string Found(std::string path_variable) const { return Found(Search(std::move(path_variable))); }
  std::string Nothing() const {
    return "no bubblewrap: neither bwrap on PATH nor " + In("own/holdfast-resources/bwrap");
  }

  support::ScratchDir scratch_;
  std::string root_ = std::filesystem::canonical(scratch_.path());
};

TEST_F(FindBubblewrapTest, TakesTheFirstOnThePath) {
  const std::string a = Program("a"), b = Program("b");
  EXPECT_EQ(Found(In("a") + ":" + In("b")), a);
  EXPECT_EQ(Found(In("b") + ":" + In("a")), b);
  EXPECT_EQ(Found(In("none") + ":" + In("b")), b);
}

TEST_F(FindBubblewrapTest, TakesTheOneOfThisMachine) {
  if (!support::RequireProgram("bwrap")) return;
  BubblewrapSearch search = Search("/usr/bin");
  search.trust = TrustOf(::geteuid());
  EXPECT_EQ(Found(search), std::filesystem::canonical("/usr/bin/bwrap"));
}

TEST_F(FindBubblewrapTest, TheDescriptorIsTheProgramAndDoesNotPassOn) {
  const std::string path = Program("a");
  const auto found = FindBubblewrap(Search(In("a")));
  ASSERT_TRUE(found) << found.error().message;
  struct stat opened, named;
  ASSERT_EQ(::fstat(found->program.get(), &opened), 0);
  ASSERT_EQ(::stat(path.c_str(), &named), 0);
  EXPECT_EQ(opened.st_ino, named.st_ino);
  EXPECT_EQ(::fcntl(found->program.get(), F_GETFD), FD_CLOEXEC);
}

TEST_F(FindBubblewrapTest, SaysThatThereIsNone) {
  const auto found = FindBubblewrap(Search(In("none")));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(found.error().message, Nothing());
  EXPECT_EQ(Found(""), Nothing());
  EXPECT_EQ(Found(":::"), Nothing());
}

TEST_F(FindBubblewrapTest, NeverTakesOneBelowTheWorkingDirectory) {
  Program("cwd");
  Program("cwd/deep/er");
  const std::string good = Program("good");
  EXPECT_EQ(Found(In("cwd") + ":" + In("cwd/deep/er")), Nothing());
  EXPECT_EQ(Found(In("cwd") + ":" + In("good")), good);
}

TEST_F(FindBubblewrapTest, NoLinkLeadsBelowTheWorkingDirectory) {
  const std::string target = Program("cwd");
  std::filesystem::create_directory(In("links"));
  std::filesystem::create_symlink(target, In("links/bwrap"));
  std::filesystem::create_directory_symlink(In("cwd"), In("alias"));
  EXPECT_EQ(Found(In("links") + ":" + In("alias") + ":" + In("good/../cwd") + ":" + In("links/../cwd")), Nothing());
  BubblewrapSearch by_alias = Search(In("cwd"));
  by_alias.untrusted = {In("alias")};
  EXPECT_EQ(Found(by_alias), Nothing());
}

TEST_F(FindBubblewrapTest, ANameThatOnlyBeginsLikeTheWorkingDirectoryIsNotBelowIt) {
  const std::string path = Program("cwd2");
  EXPECT_EQ(Found(In("cwd") + ":" + In("cwd2")), path);
}

TEST_F(FindBubblewrapTest, FromTheRootDirectoryThePathIsAllThereIs) {
  const std::string path = Program("a");
  BubblewrapSearch search = Search(In("a"));
  search.untrusted = {"/"};
  EXPECT_EQ(Found(search), path);
}

TEST_F(FindBubblewrapTest, WhatSomebodyElseCouldHaveWrittenIsPassedOver) {
  const std::string path = Program("a");
  BubblewrapSearch of_another = Search(In("a"));
  of_another.trust.owner = ::geteuid() + 1;
  EXPECT_EQ(Found(of_another), Nothing());
  for (const mode_t mode : {0775, 0757}) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    EXPECT_EQ(Found(In("a")), Nothing()) << mode;
  }
}

TEST_F(FindBubblewrapTest, EveryPlaceOfACommandIsPassedOver) {
  Program("project/.venv/bin");
  Program("cwd");
  const std::string path = Program("a");
  BubblewrapSearch search = Search(In("project/.venv/bin") + ":" + In("cwd") + ":" + In("a"));
  search.untrusted = {In("project"), In("cwd")};
  EXPECT_EQ(Found(search), path);
}

TEST_F(FindBubblewrapTest, PassesOverWhatCannotBeExecuted) {
  Program("plain", kOptions, 0644);
  std::filesystem::create_directories(In("directory/bwrap"));
  std::filesystem::create_directory(In("fifo"));
  ASSERT_EQ(::mkfifo(In("fifo/bwrap").c_str(), 0755), 0);
  const std::string good = Program("good");
  const std::string bad = In("plain") + ":" + In("directory") + ":" + In("fifo");
  EXPECT_EQ(Found(bad), Nothing());
  EXPECT_EQ(Found(bad + ":" + In("good")), good);
}

TEST_F(FindBubblewrapTest, PassesOverOneThatLacksAnOption) {
  for (const std::string option : {"--perms", "--as-pid-1", "--ro-bind-data", "--args"}) {
    std::string text = kOptions;
    text.replace(text.find(option), option.size(), option + "x");
    Program("old", text);
    EXPECT_EQ(Found(In("old")), Nothing()) << option;
  }
  Program("old", "");
  EXPECT_EQ(Found(In("old")), Nothing());
}

TEST_F(FindBubblewrapTest, IgnoresRelativePartsOfThePath) {
  Program("a");
  const std::string relative = std::filesystem::relative(In("a"), std::filesystem::current_path());
  ASSERT_TRUE(std::filesystem::exists(relative + "/bwrap"));
  EXPECT_EQ(Found(relative + "::."), Nothing());
}

class BundledBubblewrapTest : public FindBubblewrapTest {
 protected:
  BubblewrapSearch Expecting(std::string_view digest) const {
    BubblewrapSearch search = Search(In("none"));
    search.bundled_sha256 = digest;
    return search;
  }

  std::string path_ = Program("own/holdfast-resources", "bundled");
};

TEST_F(BundledBubblewrapTest, IsTakenWhenThereIsNoOther) {
  const std::string digest = Digest("bundled");
  EXPECT_EQ(Found(Expecting(digest)), path_);
  const std::string system = Program("a");
  EXPECT_EQ(Found(In("a")), system);
}

TEST_F(BundledBubblewrapTest, WithAnotherDigestItIsRefusedAndBothAreNamed) {
  const std::string expected = Digest("another"), actual = Digest("bundled");
  const auto found = FindBubblewrap(Expecting(expected));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::kInvalidRequest);
  EXPECT_EQ(found.error().message, path_ + ": sha256 is " + actual + ", expected " + expected);
}

TEST_F(BundledBubblewrapTest, AnEmptyFileIsRefusedToo) {
  const std::string expected = Digest("bundled");
  Program("own/holdfast-resources", "");
  const auto found = FindBubblewrap(Expecting(expected));
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().kind, ErrorKind::kNotFound);
}

TEST_F(BundledBubblewrapTest, WithoutADigestItIsNotChecked) {
  EXPECT_EQ(Found(Expecting(std::string(64, '0'))), path_);
  EXPECT_EQ(Found(Expecting("")), path_);
}

TEST_F(BundledBubblewrapTest, MustBeAProgram) {
  ASSERT_EQ(::chmod(path_.c_str(), 0644), 0);
  EXPECT_EQ(Found(Expecting("")), Nothing());
}

const Strings kHead = {"--unshare-user", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"};

enum class Net { kOwn, kShared };

NamespacePlan PlanOf(std::vector<Mount> mounts, Net net = Net::kOwn) {
  NamespacePlan plan;
  plan.mounts = std::move(mounts);
  plan.own_network = net == Net::kOwn;
  return plan;
}

BubblewrapArguments Arguments(const NamespacePlan& plan) {
  auto arguments = ArgumentsFor(plan);
  EXPECT_TRUE(arguments) << arguments.error().message;
  return arguments ? *std::move(arguments) : BubblewrapArguments{};
}

// Returns the arguments for the mounts alone.
Strings Words(std::vector<Mount> mounts) {
  const Strings words = Arguments(PlanOf(std::move(mounts), Net::kShared)).list;
  EXPECT_GE(words.size(), kHead.size() + 2);
  return {words.begin() + static_cast<ptrdiff_t>(kHead.size()), words.end() - 2};
}

TEST(BubblewrapArgumentsTest, AlwaysMakesNamespacesAndDropsCapabilities) {
  Strings expected = kHead;
  expected.insert(expected.end(), {"--cap-drop", "ALL"});
  EXPECT_THAT(Arguments(PlanOf({}, Net::kShared)).list, ElementsAreArray(expected));
  expected.insert(expected.end() - 2, "--unshare-net");
  EXPECT_THAT(Arguments(PlanOf({})).list, ElementsAreArray(expected));
}

TEST(BubblewrapArgumentsTest, HasWordsForEveryMount) {
  EXPECT_THAT(Words({ReadOnlyBind{"/r"}}), ElementsAre("--ro-bind", "/r", "/r"));
  EXPECT_THAT(Words({WritableBind{"/w"}}), ElementsAre("--bind", "/w", "/w"));
  EXPECT_THAT(Words({PinnedBind{"/w/b"}}), ElementsAre("--bind", "/w/b", "/w/b"));
  EXPECT_THAT(Words({EmptyRoot{}}), ElementsAre("--tmpfs", "/"));
  EXPECT_THAT(Words({EmptyDirectory{"/e", 0}}), ElementsAre("--perms", "0000", "--tmpfs", "/e"));
  EXPECT_THAT(Words({EmptyDirectory{"/e", 0555}}), ElementsAre("--perms", "0555", "--tmpfs", "/e"));
  EXPECT_THAT(Words({MakeDirectory{"/e/d"}}), ElementsAre("--perms", "0111", "--dir", "/e/d"));
  EXPECT_THAT(Words({Symlink{.path = "/bin", .target = "usr/bin"}}), ElementsAre("--symlink", "usr/bin", "/bin"));
  EXPECT_THAT(Words({Seal{"/e"}}), ElementsAre("--remount-ro", "/e"));
  EXPECT_THAT(Words({PrivateDev{}}), ElementsAre("--dev", "/dev"));
}

TEST(BubblewrapArgumentsTest, DevicesWorkBelowDevAlone) {
  EXPECT_THAT(Words({WritableBind{"/dev"}}), ElementsAre("--dev-bind", "/dev", "/dev"));
  EXPECT_THAT(Words({WritableBind{"/dev/kvm"}}), ElementsAre("--dev-bind", "/dev/kvm", "/dev/kvm"));
  EXPECT_THAT(Words({WritableBind{"/device"}}), ElementsAre("--bind", "/device", "/device"));
}

TEST(BubblewrapArgumentsTest, KeepsTheOrder) {
  EXPECT_THAT(
      Words({EmptyRoot{}, PrivateDev{}, ReadOnlyBind{"/b"}, WritableBind{"/a"}, Seal{"/"}}),
      ElementsAre("--tmpfs", "/", "--dev", "/dev", "--ro-bind", "/b", "/b", "--bind", "/a", "/a", "--remount-ro", "/"));
}

TEST(BubblewrapArgumentsTest, AFreshProcIsReadOnly) {
  EXPECT_THAT(Words({FreshProc{}}), ElementsAre("--proc", "/proc", "--remount-ro", "/proc"));
}

TEST(BubblewrapArgumentsTest, AFreshProcThatMayBeWrittenHasItsKnobsReadOnly) {
  const Strings words = Words({FreshProc{.only_knobs = true}});
  const Strings head = {"--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys"};
  ASSERT_GE(words.size(), head.size());
  EXPECT_TRUE(std::ranges::equal(std::span(words).first(head.size()), head));
  if (::geteuid() != 0) {
    EXPECT_EQ(words, head);
    return;
  }
  for (const std::string knob : {"/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs"}) {
    const bool is_there = ::access(knob.c_str(), F_OK) == 0;
    EXPECT_EQ(std::ranges::count(words, knob), is_there ? 2 : 0) << knob;
  }
}

TEST(BubblewrapArgumentsTest, EveryEmptyFileHasAnEmptyDescriptorToInherit) {
  const BubblewrapArguments arguments = Arguments(PlanOf({EmptyFile{"/f", 0}, EmptyFile{"/g", 0444}}));
  ASSERT_EQ(arguments.fds.size(), 2u);
  Strings expected = kHead;
  expected.insert(expected.end(), {"--unshare-net", "--perms", "0000", "--ro-bind-data",
                                   std::to_string(arguments.fds[0].get()), "/f", "--perms", "0444", "--ro-bind-data",
                                   std::to_string(arguments.fds[1].get()), "/g", "--cap-drop", "ALL"});
  EXPECT_THAT(arguments.list, ElementsAreArray(expected));
  for (const OwnedFd& fd : arguments.fds) {
    EXPECT_EQ(::fcntl(fd.get(), F_GETFD), 0);
    char byte;
    EXPECT_EQ(::read(fd.get(), &byte, 1), 0);
  }
}

TEST(BubblewrapArgumentsTest, RefusesMoreThanBubblewrapTakes) {
  EXPECT_TRUE(ArgumentsFor(PlanOf(std::vector<Mount>(2900, ReadOnlyBind{"/r"}))));
  const auto refused = ArgumentsFor(PlanOf(std::vector<Mount>(3000, ReadOnlyBind{"/r"})));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kLimit);
}

}  // namespace
}  // namespace holdfast::sandbox
