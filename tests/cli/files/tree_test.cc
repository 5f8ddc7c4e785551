// Tests of the list of a tree on a server that cannot be trusted.
#include "cli/files/tree.h"

#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/client_fixture.h"

namespace holdfast::cli {
namespace {

using ::testing::HasSubstr;

class RemoteTreeTest : public client::ClientTest {
 protected:
  // Lists a directory in which the server tells of one file with this name, written as in JSON.
  Result<Tree> ListWith(client::ExecServerClient& client, const std::string& name) {
    server_.Handle("fs/getMetadata", [](const support::Message& request) {
      return fmt::format(R"("result":{{"isDirectory":{},"isFile":true,"isSymlink":false,"size":5,"createdAtMs":0,)"
                         R"("modifiedAtMs":0}})",
                         !request.Text("params.path").contains("/tree/"));
    });
    server_.Answer("fs/readDirectory",
                   fmt::format(R"({{"entries":[{{"fileName":"{}","isDirectory":false,"isFile":true}}]}})", name));
    return Run(ListRemote(client.files(), "/tree"));
  }
};

TEST_F(RemoteTreeTest, HasTheFilesThatTheServerLists) {
  client::ExecServerClient client = Connect();
  const auto tree = ListWith(client, "..hidden...");
  ASSERT_TRUE(tree.has_value()) << tree.error().message;
  ASSERT_EQ(tree->files.size(), 1U);
  EXPECT_EQ(tree->files[0].path, "..hidden...");
}

TEST_F(RemoteTreeTest, RefusesNamesThatLeadOutOfTheDestination) {
  client::ExecServerClient client = Connect();
  for (const char* name : {"", ".", "..", "/etc/passwd", "../x", "a/b", "a/", "x\\u0000y"}) {
    const auto tree = ListWith(client, name);
    ASSERT_FALSE(tree.has_value()) << name;
    EXPECT_THAT(tree.error().message, HasSubstr("is not the name of a file")) << name;
  }
}

}  // namespace
}  // namespace holdfast::cli
