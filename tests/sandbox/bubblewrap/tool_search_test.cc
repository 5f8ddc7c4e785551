#include "sandbox/bubblewrap/tool_search.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/scratch_dir.h"

namespace holdfast::sandbox {
namespace {

using testing::ElementsAre;
using Paths = std::vector<std::string>;

class ToolSearchTest : public testing::Test {
 protected:
  std::string In(const std::string& name) const { return root_ + "/" + name; }
  std::string Tool(const std::string& directory) { return scratch_.Write(directory + "/tool", "", 0755); }
  static std::string List(const Paths& directories) {
    std::string list;
    for (const std::string& directory : directories) list.append(list.empty() ? "" : ":").append(directory);
    return list;
  }

  // The scratch directory takes the place of a whole machine. It belongs to this user, and not to root.
  ToolSearch Search(std::string_view path_variable, std::span<const std::string> untrusted = {}) const {
    return {.name = "tool", .path_variable = path_variable, .untrusted = untrusted, .trust = trust_};
  }

  // Returns all programs that FindTool offers, in their order.
  Paths Offered(const std::string& path_variable, const Paths& untrusted = {}) const {
    Paths offered;
    const auto refuse = [&](const std::string& path) {
      offered.push_back(path);
      return false;
    };
    EXPECT_EQ(FindTool(Search(path_variable, untrusted), refuse), std::nullopt);
    return offered;
  }

  std::string WhyNot(const std::string& path_variable, const Paths& untrusted = {}) const {
    const auto first = FirstIfDistrusted(Search(path_variable, untrusted));
    return first ? first->reason : "";
  }

  void ChangeMode(const std::string& name, mode_t mode) const { ASSERT_EQ(::chmod(In(name).c_str(), mode), 0); }

  support::ScratchDir scratch_;
  std::string root_ = std::filesystem::canonical(scratch_.path());
  ToolTrust trust_{.owner = ::geteuid(), .top = root_, .only_in = {}};
};

TEST_F(ToolSearchTest, GivesTheFirstThatIsAccepted) {
  const std::string a = Tool("a"), b = Tool("b"), c = Tool("c");
  const std::string list = List({In("none"), In("a"), In("b"), In("c")});
  EXPECT_THAT(Offered(list), ElementsAre(a, b, c));
  const auto accept = [&](const std::string& path) { return path != a; };
  EXPECT_EQ(FindTool(Search(list), accept), b);
}

TEST_F(ToolSearchTest, LeavesRelativeDirectoriesOut) {
  const std::string a = Tool("a");
  const std::string relative = std::filesystem::relative(In("a"), std::filesystem::current_path());
  ASSERT_TRUE(std::filesystem::exists(relative + "/tool"));
  EXPECT_THAT(Offered(relative + ":::.:" + In("a") + ":"), ElementsAre(a));
  EXPECT_THAT(Offered(""), ElementsAre());
}

TEST_F(ToolSearchTest, OffersNothingFromAnUntrustedPlace) {
  Tool("project");
  Tool("project/deep/er");
  const std::string good = Tool("good"), alike = Tool("project2");
  const std::string list =
      List({In("project"), In("project/deep/er"), In("good/../project"), In("project2"), In("good")});
  EXPECT_THAT(Offered(list, {In("elsewhere"), In("project")}), ElementsAre(alike, good));
}

TEST_F(ToolSearchTest, FollowsLinksToTheProgramAndToThePlace) {
  const std::string program = Tool("project");
  std::filesystem::create_directory(In("links"));
  std::filesystem::create_symlink(program, In("links/tool"));
  std::filesystem::create_directory_symlink(In("project"), In("alias"));
  const std::string list = List({In("links"), In("alias")});
  EXPECT_THAT(Offered(list), ElementsAre(program, program)) << "named without links";
  EXPECT_THAT(Offered(list, {In("project")}), ElementsAre());
  EXPECT_THAT(Offered(List({In("project")}), {In("alias")}), ElementsAre());
}

TEST_F(ToolSearchTest, ALinkToNothingIsPassedOver) {
  std::filesystem::create_directory(In("links"));
  std::filesystem::create_symlink(In("gone"), In("links/tool"));
  EXPECT_THAT(Offered(In("links")), ElementsAre());
}

TEST_F(ToolSearchTest, APlaceCanBeTheProgramItself) {
  const std::string program = Tool("a");
  EXPECT_THAT(Offered(In("a"), {program}), ElementsAre());
}

TEST_F(ToolSearchTest, NeitherTheRootNorNothingIsAReasonForDistrust) {
  const std::string a = Tool("a");
  EXPECT_THAT(Offered(In("a"), {"/", ""}), ElementsAre(a));
}

// A command of an ordinary user could make `~/bin/tool` under one policy, and a start under another policy would run it
// outside of the sandbox.
TEST_F(ToolSearchTest, WhatAnotherUserOwnsIsNotOffered) {
  const std::string program = Tool("a");
  trust_.owner = ::geteuid() + 1;
  EXPECT_THAT(Offered(In("a")), ElementsAre());
  EXPECT_EQ(WhyNot(In("a")),
            program + " belongs to user " + std::to_string(::geteuid()) + ", not " + std::to_string(::geteuid() + 1));
}

TEST_F(ToolSearchTest, WhatOthersCanWriteIsNotOffered) {
  const std::string program = Tool("a/b/c");
  EXPECT_THAT(Offered(In("a/b/c")), ElementsAre(program));
  for (const char* name : {"a", "a/b", "a/b/c", "a/b/c/tool"}) {
    for (const mode_t mode : {0775, 0757, 01777}) {
      ChangeMode(name, mode);
      EXPECT_THAT(Offered(In("a/b/c")), ElementsAre()) << name;
      EXPECT_EQ(WhyNot(In("a/b/c")), In(name) + " can be written by others");
    }
    ChangeMode(name, 0755);
  }
  EXPECT_EQ(WhyNot(In("a/b/c")), "");
}

// Other users can change the link, wherever it leads at first.
TEST_F(ToolSearchTest, ALinkThatOthersCanChangeIsNotFollowed) {
  const std::string program = Tool("good");
  std::filesystem::create_directories(In("links/inner"));
  std::filesystem::create_directory_symlink(In("good"), In("links/inner/alias"));
  const std::string list = In("links/inner/alias");
  EXPECT_THAT(Offered(list), ElementsAre(program));
  ChangeMode("links", 0777);
  EXPECT_THAT(Offered(list), ElementsAre());
  EXPECT_EQ(WhyNot(list), In("links") + " can be written by others");
}

// Files that commands of root make belong to root, whatever their policy is. So the owner proves nothing.
TEST_F(ToolSearchTest, RootTakesProgramsOfTheSystemAlone) {
  Tool("opt");
  const std::string packaged = Tool("usr/bin");
  std::filesystem::create_directory_symlink(In("usr/bin"), In("bin"));
  trust_.only_in = {In("bin")};
  EXPECT_THAT(Offered(List({In("opt"), In("usr/bin"), In("bin")})), ElementsAre(packaged, packaged));
  EXPECT_EQ(WhyNot(In("opt")), "root uses only programs in " + In("bin"));

  EXPECT_THAT(TrustOf(0).only_in, ElementsAre("/usr/bin", "/usr/sbin", "/bin", "/sbin"));
  EXPECT_THAT(TrustOf(1000).only_in, ElementsAre());
  for (const uid_t user : {0, 1000}) {
    EXPECT_EQ(TrustOf(user).owner, 0u);
    EXPECT_EQ(TrustOf(user).top, "/");
  }
}

TEST_F(ToolSearchTest, NothingBelowADirectoryForEverybodyIsTrusted) {
  Tool("a");
  trust_ = TrustOf(1000);
  EXPECT_THAT(Offered(In("a")), ElementsAre()) << "all of it is in " << root_;
}

TEST_F(ToolSearchTest, TheReasonIsAboutTheFirstThatThereIs) {
  Tool("a");
  Tool("b");
  EXPECT_EQ(WhyNot(List({In("none"), In("a"), In("b")}), {In("b")}), "");
  EXPECT_EQ(WhyNot(List({In("none"), In("b"), In("a")}), {In("b")}), "commands can have put it there");
}

}  // namespace
}  // namespace holdfast::sandbox
