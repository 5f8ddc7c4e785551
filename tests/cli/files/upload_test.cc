// Tests of the copy of a file to a server that has only the methods of the published ones.
#include "cli/files/upload.h"

#include <unistd.h>

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "client/client_fixture.h"
#include "support/message.h"
#include "support/scratch_dir.h"

namespace holdfast::cli {
namespace {

class PublishedServerUploadTest : public client::ClientTest {
 protected:
  void SetUp() override {
    server_.Handle("fs/open", [](const support::Message& request) {
      return fmt::format(R"("result":{{"handleId":"{}"}})", request.Text("params.handleId"));
    });
    for (const char* method : {"fs/writeBlock", "fs/close", "fs/rename", "fs/remove"}) server_.Answer(method, "{}");
  }

  Result<> Upload(client::ExecServerClient& client) {
    TransferJob job{.from = scratch_.Write("file", "content"),
                    .to = "/there",
                    .size = 7,
                    .permissions = 0500,
                    .resuming = Resuming::kResume};
    return Run(UploadFile(client.files(), std::move(job), progress_));
  }

  support::ScratchDir scratch_;
  ProgressBar progress_{STDERR_FILENO};
};

TEST_F(PublishedServerUploadTest, CopiesFromTheBeginningWithoutPermissions) {
  client::ExecServerClient client = Connect();
  const auto uploaded = Upload(client);
  ASSERT_TRUE(uploaded) << uploaded.error().message;
  ASSERT_EQ(server_.Got("fs/open").size(), 1U);
  EXPECT_EQ(server_.Got("fs/open").at(0).Text("params.mode"), "replace");
  EXPECT_EQ(server_.Got("fs/open").at(0).Text("params.path"), "file:///there.7-0.holdfast-part");
  EXPECT_FALSE(server_.Got("fs/open").at(0).Has("params.permissions"));
  EXPECT_EQ(server_.Got("fs/writeBlock").at(0).Bytes("params.chunk"), "content");
  EXPECT_EQ(server_.Got("fs/rename").at(0).Text("params.destinationPath"), "file:///there");
  EXPECT_TRUE(server_.Got("fs/remove").empty());
}

TEST_F(PublishedServerUploadTest, RemovesWhatAFailedCopyHasLeft) {
  client::ExecServerClient client = Connect();
  server_.Refuse("fs/writeBlock", -32603, "No space left on device");
  const auto uploaded = Upload(client);
  ASSERT_FALSE(uploaded);
  EXPECT_EQ(uploaded.error().message, "No space left on device");
  EXPECT_EQ(server_.Got("fs/remove").at(0).Text("params.path"), "file:///there.7-0.holdfast-part");
  EXPECT_TRUE(server_.Got("fs/rename").empty());
}

}  // namespace
}  // namespace holdfast::cli
