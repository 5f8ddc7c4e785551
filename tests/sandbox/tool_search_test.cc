#include "sandbox/tool_search.h"

#include <filesystem>
#include <string>
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

  // All that are offered, in their order.
  static Paths Offered(const std::string& path_variable, const Paths& untrusted = {}) {
    Paths offered;
    const auto refuse = [&](const std::string& path) {
      offered.push_back(path);
      return false;
    };
    EXPECT_EQ(FindTool({.name = "tool", .path_variable = path_variable, .untrusted = untrusted}, refuse), std::nullopt);
    return offered;
  }

  support::ScratchDir scratch_;
  std::string root_ = std::filesystem::canonical(scratch_.path());
};

TEST_F(ToolSearchTest, GivesTheFirstThatIsAccepted) {
  const std::string a = Tool("a"), b = Tool("b"), c = Tool("c");
  const std::string list = List({In("none"), In("a"), In("b"), In("c")});
  EXPECT_THAT(Offered(list), ElementsAre(a, b, c));
  const auto accept = [&](const std::string& path) { return path != a; };
  EXPECT_EQ(FindTool({.name = "tool", .path_variable = list, .untrusted = {}}, accept), b);
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

}  // namespace
}  // namespace holdfast::sandbox
