// Acts on protected names that are links. A command that another program has prepared such a link for must still start,
// and can change neither the link nor what it leads to.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "sandboxee/sandboxee_fixture.h"
#include "support/eventually.h"

namespace holdfast::sandboxee {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNames[] = {".git", ".codex", ".agents"};

// A tree in whose workspace a name is a link. The directory {ws}/area has a file in it; {ws}/first leads there.
class LinkedTree {
 public:
  LinkedTree(uid_t owner, const std::string& name, const std::string& target) : owner_(owner), tree_(owner) {
    fs::create_directories(ws() + "/area/deep");
    fs::create_directories(ws() + "/hop/skip");
    fs::copy(ws() + "/a.txt", ws() + "/area/file");
    for (const char* made : {"/area", "/area/deep", "/hop", "/hop/skip", "/area/file"}) Own(ws() + made);
    Link("first", ws() + "/second");
    Link("second", "area");
    Link(name, Fill(target, tree_.places()));
  }

  const Tree& tree() const { return tree_; }
  const std::string& ws() const { return tree_.places().at("ws"); }

  // Returns the names of all files, and what the links say.
  std::string Listing() const {
    std::vector<std::string> lines;
    for (const auto& entry : fs::recursive_directory_iterator(tree_.path())) {
      const bool is_link = entry.is_symlink();
      lines.push_back(entry.path().string() + (is_link ? " -> " + fs::read_symlink(entry.path()).string() : ""));
    }
    std::ranges::sort(lines);
    return fmt::format("{}\n", fmt::join(lines, "\n"));
  }

 private:
  void Own(const std::string& path) const { EXPECT_EQ(::lchown(path.c_str(), owner_, owner_), 0); }

  void Link(const std::string& name, const std::string& target) const {
    const std::string path = ws() + "/" + name;
    fs::remove_all(path);
    fs::create_symlink(target, path);
    Own(path);
  }

  const uid_t owner_;
  const Tree tree_;
};

// Makes directories one in another, each with a name of 200 letters, and returns the deepest.
OwnedFd MakeDeep(const std::string& top, int levels) {
  const std::string name(200, 'd');
  OwnedFd at(::open(top.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (int level = 0; level < levels; ++level) {
    EXPECT_EQ(::mkdirat(at.get(), name.c_str(), 0755), 0);
    at = OwnedFd(::openat(at.get(), name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  return at;
}

// Expects that the act was tried, and failed with an errno. A helper that starts nothing has the same status.
void ExpectRefusedInside(const Outcome& outcome, const std::string& act) {
  EXPECT_EQ(outcome.status, 1) << act << ": " << outcome.out << outcome.err;
  EXPECT_FALSE(outcome.out.empty()) << act << ": " << outcome.err;
}

class LinkedNamesTest : public SandboxeeTest {
 protected:
  // Expects that each act is done outside and refused inside. {name} in the words stands for the name of the link.
  // Outside, all names are alike.
  void ExpectKept(const std::string& target, const std::vector<std::string>& acts,
                  Policy policy = Policy::kWorkspace) const {
    for (const std::string name : kNames) {
      SCOPED_TRACE(name + " -> " + target);
      std::vector<std::string> words;
      for (const std::string& act : acts) words.push_back(Fill(act, {{"name", name}}));
      for (const std::string& act : name == kNames[0] ? words : std::vector<std::string>()) {
        const Act alone[] = {{.name = "outside", .words = act}};
        EXPECT_EQ(Do(Side::kOutside, LinkedTree(uid(), name, target).tree(), alone).front().status, 0) << act;
      }
      std::vector<Act> inside;
      for (const std::string& act : words) inside.push_back({.name = "inside", .words = act, .policy = policy});
      const LinkedTree linked(uid(), name, target);
      const std::string before = linked.Listing();
      const std::vector<Outcome> outcomes = Do(Side::kInside, linked.tree(), inside);
      for (size_t i = 0; i < words.size(); ++i) {
        ExpectRefusedInside(outcomes[i], words[i]);
      }
      EXPECT_TRUE(support::Eventually([&] { return linked.Listing() == before; })) << before << linked.Listing();
    }
  }

  // Expects that a command starts and can work beside the link.
  void ExpectStarts(const std::string& target, Policy policy = Policy::kWorkspace) const {
    for (const std::string name : kNames) {
      SCOPED_TRACE(name + " -> " + target);
      const std::string remove = "remove {ws}/" + name;
      const Act acts[] = {{.name = "work", .words = "create {ws}/sub/made", .policy = policy},
                          {.name = "remove", .words = remove, .policy = policy}};
      const std::vector<Outcome> outcomes = Do(Side::kInside, LinkedTree(uid(), name, target).tree(), acts);
      EXPECT_EQ(outcomes[0].status, 0) << outcomes[0].out << outcomes[0].err;
      ExpectRefusedInside(outcomes[1], remove);
    }
  }
};

INSTANTIATE_TEST_SUITE_P(, LinkedNamesTest,
                         testing::Combine(testing::Values(User::kRoot, User::kOrdinary),
                                          testing::Values(Means::kNative, Means::kSystemBubblewrap)),
                         CombinationName);

TEST_P(LinkedNamesTest, ALinkToTheOutsideStays) {
  ExpectKept("{out}", {"remove {ws}/{name}", "rename {ws}/{name} {ws}/other", "rename {ws}/a.txt {ws}/{name}",
                       "exchange {ws}/{name} {ws}/sub", "create {ws}/{name}/new", "write {ws}/{name}/file.txt"});
}

TEST_P(LinkedNamesTest, ALinkToTheInsideStaysAndSoDoesItsTarget) {
  ExpectKept("area", {"remove {ws}/{name}", "rename {ws}/{name} {ws}/other", "rename {ws}/a.txt {ws}/{name}",
                      "exchange {ws}/{name} {ws}/sub", "create {ws}/{name}/new", "write {ws}/{name}/file",
                      "create {ws}/area/new", "write {ws}/area/file", "remove {ws}/area/file",
                      "rename {ws}/area {ws}/other", "exchange {ws}/area {ws}/sub", "remove_directory {ws}/area/deep"});
}

TEST_P(LinkedNamesTest, RulesAboutTheNamesChangeNothing) {
  for (const char* target : {"area", "first", "hop/skip/../../area"}) {
    ExpectKept(target, {"remove {ws}/{name}", "create {ws}/{name}/new"}, Policy::kNamed);
  }
  ExpectKept("gone", {"remove {ws}/{name}", "make_directory {ws}/gone"}, Policy::kNamed);
}

TEST_P(LinkedNamesTest, ALinkToNothingStaysAndItsTargetIsNotMade) {
  ExpectKept("gone/deep", {"remove {ws}/{name}", "rename {ws}/{name} {ws}/other", "rename {ws}/a.txt {ws}/{name}",
                           "exchange {ws}/{name} {ws}/sub", "make_directory {ws}/gone", "make_symlink sub {ws}/gone",
                           "rename {ws}/a.txt {ws}/gone"});
}

TEST_P(LinkedNamesTest, LinksAndDirectoriesOnTheWayStayToo) {
  ExpectKept("first", {"remove {ws}/first", "remove {ws}/second", "rename {ws}/second {ws}/other",
                       "rename {ws}/a.txt {ws}/first", "create {ws}/area/new", "rename {ws}/area {ws}/other"});
  ExpectKept("hop/skip/../../area", {"rename {ws}/hop {ws}/other", "rename {ws}/hop/skip {ws}/other",
                                     "exchange {ws}/hop {ws}/sub", "create {ws}/area/new"});
}

TEST_P(LinkedNamesTest, NoTargetStopsACommand) {
  for (const char* target : {"/proc/1/root", "/proc/self/cwd", "/bin/sh", "{bin}", "/", "..", ".", "sub/../nowhere",
                             "a.txt/below", "/dev/null", "/dev/shm/nothing"}) {
    ExpectStarts(target);
  }
  ExpectStarts("{ws}/" + std::string(300, 'x'));
  for (const std::string name : kNames) ExpectStarts("{ws}/" + name);
}

// A chain of links can lead along a path that is too long for the kernel.
TEST_P(LinkedNamesTest, ATargetThatCannotBeLookedAtStopsNoCommand) {
  std::string half;
  for (int level = 0; level < 11; ++level) half += std::string(200, 'd') + "/";
  for (const std::string name : kNames) {
    const LinkedTree linked(uid(), name, half + "more");
    const OwnedFd middle = MakeDeep(linked.ws(), 11);
    ASSERT_EQ(::symlinkat((half + "end").c_str(), middle.get(), "more"), 0);
    (void)MakeDeep(fmt::format("/proc/self/fd/{}", middle.get()), 11);
    constexpr Act work[] = {{.name = "work", .words = "create {ws}/sub/made"}};
    const Outcome outcome = Do(Side::kInside, linked.tree(), work).front();
    EXPECT_EQ(outcome.status, 0) << outcome.err;
  }
}

TEST_P(LinkedNamesTest, WhatAPatternDeniesStaysDenied) {
  for (const std::string name : kNames) {
    const std::string by_link = "read {ws}/" + name, remove = "remove {ws}/" + name;
    const Act acts[] = {{.name = "read", .words = by_link, .policy = Policy::kDeniedPatterns},
                        {.name = "remove", .words = remove, .policy = Policy::kDeniedPatterns}};
    for (const Outcome& outcome : Do(Side::kInside, LinkedTree(uid(), name, "sub/x.env").tree(), acts)) {
      ExpectRefusedInside(outcome, by_link);
    }
  }
}

// The kernel follows no link of another user in a directory like /tmp. If its target became read-only, every user could
// close the directories of all others.
TEST_P(LinkedNamesTest, ALinkOfAnotherUserInASharedDirectoryClosesNothing) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make the link of another user";
  for (const std::string name : kNames) {
    const LinkedTree linked(uid(), name, "area");
    ASSERT_EQ(::chmod(linked.ws().c_str(), 01777), 0);
    ASSERT_EQ(::lchown((linked.ws() + "/" + name).c_str(), 12345, 12345), 0);
    const std::string remove = "remove {ws}/" + name;
    const Act acts[] = {{.name = "work", .words = "create {ws}/area/made"}, {.name = "remove", .words = remove}};
    const std::vector<Outcome> outcomes = Do(Side::kInside, linked.tree(), acts);
    EXPECT_EQ(outcomes[0].status, 0) << outcomes[0].out << outcomes[0].err;
    ExpectRefusedInside(outcomes[1], remove);
  }
}

}  // namespace
}  // namespace holdfast::sandboxee
