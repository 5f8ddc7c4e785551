#include "client/transfer.h"

#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/base64.h"
#include "client/client_fixture.h"
#include "support/message.h"

namespace holdfast::client {
namespace {

using support::Base64;
using support::Message;

// A server with one file, /f.
class TransferTest : public ClientTest {
 protected:
  void SetUp() override {
    server_.Handle("fs/getMetadata", [this](const Message&) {
      return fmt::format(
          R"("result":{{"isDirectory":false,"isFile":true,"isSymlink":false,"size":{},"createdAtMs":0,"modifiedAtMs":{}}})",
          file_.size(), modified_);
    });
    server_.Handle("fs/open", [this](const Message& request) {
      if (request.Has("params.mode") && request.Text("params.mode") == "replace") file_.clear();
      if (request.Has("params.size")) file_.resize(request.Number("params.size"));
      return fmt::format(R"("result":{{"handleId":"{}"}})", request.Text("params.handleId"));
    });
    server_.Handle("fs/readBlock", [this](const Message& request) -> std::optional<std::string> {
      if (blocks_until_cut_ && --*blocks_until_cut_ < 0) return std::nullopt;
      const auto offset = std::min<size_t>(request.Number("params.offset"), file_.size());
      const std::string chunk = file_.substr(offset, request.Number("params.len"));
      const bool eof = offset + chunk.size() == file_.size();
      return fmt::format(R"("result":{{"chunk":"{}","eof":{}}})", Base64(chunk), eof);
    });
    server_.Handle("fs/writeBlock", [this](const Message& request) -> std::optional<std::string> {
      if (blocks_until_cut_ && --*blocks_until_cut_ < 0) return std::nullopt;
      const auto bytes = request.Bytes("params.chunk");
      const size_t offset = request.Number("params.offset");
      file_.resize(std::max(file_.size(), offset + bytes.size()));
      file_.replace(offset, bytes.size(), bytes);
      return R"("result":{})";
    });
    server_.Answer("fs/close", "{}");
  }

  ByteSink Sink() {
    return [this](std::string_view bytes) -> Result<> {
      got_ += bytes;
      return {};
    };
  }
  ByteSource Source(std::string bytes) {
    return [bytes](uint64_t offset, size_t max) -> Result<std::string> {
      return bytes.substr(std::min<size_t>(offset, bytes.size()), max);
    };
  }
  // The connection is cut when it stalls.
  void CutWhenStalled(const std::function<bool()>& done) {
    ASSERT_TRUE(RunUntil([&] {
      if (blocks_until_cut_ && *blocks_until_cut_ < 0) {
        blocks_until_cut_.reset();
        server_.Cut();
      }
      return done();
    }));
  }

  std::string file_, got_;
  int modified_ = 1;
  std::optional<int> blocks_until_cut_;
};

std::string Letters(size_t count) {
  std::string letters(count, '\0');
  for (size_t i = 0; i < count; ++i) letters[i] = static_cast<char>('a' + i % 26);
  return letters;
}

TEST_F(TransferTest, DownloadsFilesOfEverySizeAroundABlock) {
  auto client = Connect();
  for (size_t size = 0; size <= 9; ++size) {
    file_ = Letters(size);
    got_.clear();
    EXPECT_EQ(Run(client.files().Download("/f", Sink(), {.blocks_at_once = 2, .block_bytes = 4})), size);
    EXPECT_EQ(got_, file_);
  }
}

TEST_F(TransferTest, HasSeveralBlocksUnderWay) {
  auto client = Connect();
  file_ = Letters(100);
  blocks_until_cut_ = 0;
  const auto download = Begin(client.files().Download("/f", Sink(), {.blocks_at_once = 3, .block_bytes = 10}));
  ASSERT_TRUE(RunUntil([&] { return server_.Got("fs/readBlock").size() == 3; }));
  RunReady();
  EXPECT_EQ(server_.Got("fs/readBlock").size(), 3U);
}

TEST_F(TransferTest, DownloadsFromAnOffset) {
  auto client = Connect();
  file_ = Letters(20);
  EXPECT_EQ(Run(client.files().Download("/f", Sink(), {.offset = 7, .block_bytes = 4})), 13U);
  EXPECT_EQ(got_, file_.substr(7));
}

TEST_F(TransferTest, GoesOnWithADownloadWhereverItIsCut) {
  auto client = Connect();
  file_ = Letters(20);
  for (int cut = 0; cut < 5; ++cut) {
    got_.clear();
    blocks_until_cut_ = cut;
    const auto download = Begin(client.files().Download("/f", Sink(), {.blocks_at_once = 2, .block_bytes = 4}));
    CutWhenStalled([&] { return download->has_value(); });
    EXPECT_EQ(download->value(), 20U) << (**download).error().message;
    EXPECT_EQ(got_, file_) << "cut behind block " << cut;
  }
}

TEST_F(TransferTest, ReportsAFileThatHasChangedWhileItWasCut) {
  auto client = Connect();
  file_ = Letters(20);
  blocks_until_cut_ = 1;
  const auto download = Begin(client.files().Download("/f", Sink(), {.block_bytes = 4}));
  modified_ = 2;
  CutWhenStalled([&] { return download->has_value(); });
  EXPECT_EQ((*download)->error().message, "/f has changed while it was downloaded");
}

TEST_F(TransferTest, EndsWhenTheSinkFails) {
  auto client = Connect();
  file_ = Letters(20);
  auto full = [](std::string_view) -> Result<> { return Fail(ErrorKind::kSystem, "no space left"); };
  EXPECT_EQ(Run(client.files().Download("/f", full)).error().message, "no space left");
  EXPECT_TRUE(RunUntil([&] { return !server_.Got("fs/close").empty(); }));
}

TEST_F(TransferTest, ReadsAWholeFileFromAServerThatOpensNone) {
  auto client = Connect();
  server_.Refuse("fs/open", -32601, "no such method");
  server_.Answer("fs/readFile", fmt::format(R"({{"dataBase64":"{}"}})", Base64("hello")));
  EXPECT_EQ(Run(client.files().Download("/f", Sink(), {.offset = 1})), 4U);
  EXPECT_EQ(got_, "ello");
}

TEST_F(TransferTest, UploadsFilesOfEverySizeAroundABlock) {
  auto client = Connect();
  for (size_t size = 0; size <= 9; ++size) {
    file_ = "old";
    EXPECT_EQ(Run(client.files().Upload("/f", Source(Letters(size)), {.blocks_at_once = 2, .block_bytes = 4})), size);
    EXPECT_EQ(file_, Letters(size));
  }
}

TEST_F(TransferTest, BeginsAnUploadAgainWhereverItIsCut) {
  auto client = Connect();
  for (int cut = 0; cut < 5; ++cut) {
    blocks_until_cut_ = cut;
    auto options = TransferOptions{.blocks_at_once = 2, .block_bytes = 4};
    const auto upload = Begin(client.files().Upload("/f", Source(Letters(20)), options));
    CutWhenStalled([&] { return upload->has_value(); });
    EXPECT_EQ(upload->value(), 20U);
    EXPECT_EQ(file_, Letters(20)) << "cut behind block " << cut;
  }
}

constexpr const char* kUpdatingServer = R"({"sessionId":"S","environmentInfo":{"shell":{"name":"sh","path":"/bin/sh"},)"
                                        R"("capabilities":{"fileWriteStreaming":true,"fileUpdate":true}}})";

TEST_F(TransferTest, GoesOnWithAnUploadWhereverItIsCut) {
  server_.Answer("initialize", kUpdatingServer);
  auto client = Connect();
  for (int cut = 1; cut < 5; ++cut) {
    const size_t opened = server_.Got("fs/open").size();
    blocks_until_cut_ = cut;
    auto options = TransferOptions{.blocks_at_once = 1, .block_bytes = 4};
    const auto upload = Begin(client.files().Upload("/f", Source(Letters(20)), options));
    CutWhenStalled([&] { return upload->has_value(); });
    EXPECT_EQ(upload->value(), 20U);
    EXPECT_EQ(file_, Letters(20)) << "cut behind block " << cut;
    ASSERT_EQ(server_.Got("fs/open").size(), opened + 2);
    EXPECT_EQ(server_.Got("fs/open").at(opened).Number("params.size"), 0);
    EXPECT_EQ(server_.Got("fs/open").at(opened + 1).Number("params.size"), cut * 4);
  }
}

// A block behind one that was not answered may be on the disk, but what is before it may not.
TEST_F(TransferTest, GoesOnWithAnUploadBeforeTheFirstBlockThatIsNotConfirmed) {
  server_.Answer("initialize", kUpdatingServer);
  auto client = Connect();
  blocks_until_cut_ = 100;
  server_.Handle("fs/writeBlock", [this](const Message& request) -> std::optional<std::string> {
    if (*blocks_until_cut_ < 0) return std::nullopt;
    if (request.Number("params.offset") == 4) return std::nullopt;
    if (request.Number("params.offset") == 12) blocks_until_cut_ = -1;
    return R"("result":{})";
  });
  const auto upload = Begin(client.files().Upload("/f", Source(Letters(20)), {.blocks_at_once = 2, .block_bytes = 4}));
  ASSERT_TRUE(RunUntil([&] { return *blocks_until_cut_ < 0; }));
  server_.Answer("fs/writeBlock", "{}");
  server_.Cut();
  ASSERT_TRUE(RunUntil([&] { return upload->has_value(); }));
  EXPECT_EQ(server_.Got("fs/open").at(1).Number("params.size"), 4);
}

TEST_F(TransferTest, BeginsAnUploadAtAnOffsetWithPermissions) {
  server_.Answer("initialize", kUpdatingServer);
  auto client = Connect();
  file_ = "abcde and more";
  EXPECT_EQ(Run(client.files().Upload("/f", Source(Letters(9)), {.offset = 5, .permissions = 0750})), 4U);
  EXPECT_EQ(file_, Letters(9));
  EXPECT_EQ(server_.Got("fs/open").at(0).Text("params.mode"), "update");
  EXPECT_EQ(server_.Got("fs/open").at(0).Number("params.permissions"), 0750);
}

TEST_F(TransferTest, AsksAPublishedServerForNothingThatItDoesNotKnow) {
  auto client = Connect();
  EXPECT_FALSE(client.files().updates_files());
  EXPECT_EQ(Run(client.files().Upload("/f", Source("x"), {.permissions = 0750})), 1U);
  EXPECT_FALSE(server_.Got("fs/open").at(0).Has("params.permissions"));
  EXPECT_FALSE(Run(client.files().Upload("/f", Source("xyz"), {.offset = 1})));
  EXPECT_FALSE(Run(client.files().SetAttributes("/f", {.permissions = 0750})));
  EXPECT_EQ(file_, "x");
}

TEST_F(TransferTest, SetsThePropertiesOfAFile) {
  server_.Answer("initialize", kUpdatingServer);
  auto client = Connect();
  file_ = "kept";
  EXPECT_TRUE(Run(client.files().SetAttributes("/f", {.permissions = 0444, .modified_at_ms = -5})));
  EXPECT_EQ(file_, "kept");
  const Message opened = server_.Got("fs/open").at(0);
  EXPECT_EQ(opened.Number("params.permissions"), 0444);
  EXPECT_EQ(opened.Number("params.modifiedAtMs"), -5);
  EXPECT_EQ(server_.Got("fs/close").size(), 1U);
}

TEST_F(TransferTest, EndsAnUploadWhenTheServerRefusesABlock) {
  auto client = Connect();
  server_.Refuse("fs/writeBlock", -32603, "No space left on device");
  EXPECT_EQ(Run(client.files().Upload("/f", Source("x"))).error().message, "No space left on device");
}

TEST_F(TransferTest, WritesAWholeFileToAServerThatTakesNoBlocks) {
  server_.Answer("initialize", R"({"sessionId":"S","environmentInfo":{"shell":{"name":"sh","path":"/bin/sh"}}})");
  auto client = Connect();
  server_.Answer("fs/writeFile", "{}");
  EXPECT_EQ(Run(client.files().Upload("/f", Source("hello"))), 5U);
  EXPECT_EQ(server_.Got("fs/writeFile").at(0).Bytes("params.dataBase64"), "hello");
}

TEST_F(TransferTest, WorksInASandbox) {
  auto client = Connect();
  file_ = "x";
  EXPECT_TRUE(Run(client.files().InSandbox(R"({"type":"read-only"})").Download("/f", Sink())));
  EXPECT_EQ(server_.Got("fs/open").at(0).Text("params.sandbox.type"), "read-only");
}

}  // namespace
}  // namespace holdfast::client
