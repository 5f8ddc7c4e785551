#include "files/workers/helper_link.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "files/helper/protocol.h"
#include "support/scratch_dir.h"

namespace holdfast::files {
namespace {

// A thread plays the file helper at the other end: it receives one request and sends what the test wants.
class HelperLinkTest : public testing::Test {
 protected:
  using Say = std::function<void(Channel& channel)>;

  HelperLinkTest() { Connect(); }

  void Connect() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    link_.emplace(OwnedFd(ends[0]));
    peer_ = OwnedFd(ends[1]);
  }

  template <typename Call>
  auto WhilePeer(const Say& say, Call call) {
    std::thread peer([&] {
      Channel channel(peer_.get(), 1 << 20);
      auto line = channel.Receive();
      if (line && *line) request_ = (*line)->text;
      say(channel);
    });
    auto result = call();
    peer.join();
    return result;
  }
  Result<> Call(const Say& say, std::string& json) {
    return WhilePeer(say, [&] { return link_->Call("fs/x", R"({"a":1})", json); });
  }
  Result<> Call(const Say& say) {
    std::string ignored;
    return Call(say, ignored);
  }
  Result<File> Open(const Say& say) {
    return WhilePeer(say, [&] {
      wire::FsOpenFileParams params;
      params.path = "file:///a%20b";
      return link_->Open(params);
    });
  }
  static Say Line(std::string text) {
    return [text = std::move(text)](Channel& channel) { EXPECT_TRUE(channel.Send(text)); };
  }

  std::optional<HelperLink> link_;
  OwnedFd peer_;
  std::string request_;
};

TEST_F(HelperLinkTest, AddsTheResponseToTheAnswer) {
  std::string json = R"({"id":1,"result":)";
  EXPECT_TRUE(Call(Line(Success("fs/x", R"({"b":2})")), json));
  EXPECT_EQ(request_, R"({"operation":"fs/x","params":{"a":1}})");
  EXPECT_EQ(json, R"({"id":1,"result":{"b":2})");
  EXPECT_FALSE(link_->broken());
}

TEST_F(HelperLinkTest, GivesTheHelpersErrorAndGoesOn) {
  const auto failed = Call(Line(Failure({ErrorKind::kPermissionDenied, "open /x: Permission denied"})));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "open /x: Permission denied");
  EXPECT_FALSE(link_->broken());
  EXPECT_TRUE(Call(Line(Success("fs/x", "{}"))));
}

TEST_F(HelperLinkTest, IsBrokenByNonsense) {
  for (const std::string answer : {"nonsense", "{}", "", R"({"status":"ok","payload":{"message":"x"}})"}) {
    Connect();
    EXPECT_FALSE(Call(Line(answer))) << answer;
    EXPECT_TRUE(link_->broken()) << answer;
  }
}

TEST_F(HelperLinkTest, IsNotUsedAgainWhenItsHelperIsStale) {
  EXPECT_FALSE(Call(Line(std::string(kStale))));
  EXPECT_TRUE(link_->broken());
  EXPECT_TRUE(link_->stale());
  Connect();
  EXPECT_FALSE(Open(Line(std::string(kStale))));
  EXPECT_TRUE(link_->stale());
  Connect();
  EXPECT_FALSE(Call(Line("nonsense")));
  EXPECT_FALSE(link_->stale()) << "no other helper would do better";
}

TEST_F(HelperLinkTest, IsBrokenByTheAnswerToSomethingElse) {
  EXPECT_FALSE(Call(Line(Success("fs/y", "{}"))));
  EXPECT_TRUE(link_->broken());
}

TEST_F(HelperLinkTest, IsBrokenByTheEndOfTheHelper) {
  const auto ended = Call([&](Channel&) { peer_.Reset(); });
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().kind, ErrorKind::kSystem);
  EXPECT_EQ(ended.error().message, "the sandbox's file helper has ended");
  EXPECT_TRUE(link_->broken());
  std::string json;
  EXPECT_FALSE(link_->Call("fs/x", "{}", json)) << "and there is no SIGPIPE";
}

TEST_F(HelperLinkTest, IsBrokenByHalfAnAnswer) {
  EXPECT_FALSE(Call([&](Channel&) {
    EXPECT_EQ(::send(peer_.get(), "{\"st", 4, 0), 4);
    peer_.Reset();
  }));
  EXPECT_TRUE(link_->broken());
}

TEST_F(HelperLinkTest, TakesTheOpenFile) {
  const support::ScratchDir dir;
  const OwnedFd file(::open(dir.Write("file", "hello").c_str(), O_RDONLY | O_CLOEXEC));
  const auto opened = Open([&](Channel& channel) { EXPECT_TRUE(channel.Send(Success("fs/open", "{}"), file.get())); });
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->size(), 5u);
  EXPECT_EQ(opened->path(), "/a b");
  EXPECT_EQ(request_, R"({"operation":"fs/open","params":{"path":"file:///a%20b"}})");
}

TEST_F(HelperLinkTest, IsBrokenByAnOpenFileThatDoesNotCome) {
  EXPECT_FALSE(Open(Line(Success("fs/open", "{}"))));
  EXPECT_TRUE(link_->broken());
}

TEST_F(HelperLinkTest, IsQuietWhileTheHelperWaits) {
  EXPECT_TRUE(link_->IsQuiet());
  EXPECT_TRUE(Call(Line(Success("fs/x", "{}"))));
  EXPECT_TRUE(link_->IsQuiet());
  EXPECT_EQ(::send(peer_.get(), "x", 1, 0), 1);
  EXPECT_FALSE(link_->IsQuiet()) << "nobody has asked";
}

TEST_F(HelperLinkTest, IsNotQuietWhenTheHelperHasEnded) {
  peer_.Reset();
  EXPECT_FALSE(link_->IsQuiet());
}

}  // namespace
}  // namespace holdfast::files
