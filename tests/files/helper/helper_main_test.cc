#include "files/helper/helper_main.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/file_uri.h"
#include "files/helper/channel.h"
#include "files/helper/protocol.h"
#include "support/message.h"
#include "support/scratch_dir.h"

namespace holdfast::files {
namespace {

using support::Base64;
using support::Message;
using support::Quoted;
using testing::HasSubstr;

constexpr rlim_t kMaxFds = 64;

// The tests call RunHelper in a child, which has one end of a socket as standard input and output.
class HelperMainTest : public testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    ours_ = OwnedFd(ends[0]);
    const OwnedFd theirs(ends[1]);
    child_ = ::fork();
    if (child_ == 0) {
      ::dup2(theirs.get(), STDIN_FILENO);
      ::dup2(theirs.get(), STDOUT_FILENO);
      ::close(ours_.get());
      ::close(theirs.get());
      const rlimit few{kMaxFds, kMaxFds};
      ::setrlimit(RLIMIT_NOFILE, &few);
      ::_exit(RunHelper({In("absent"), In("gone")}, {}));
    }
    channel_.emplace(ours_.get(), 64u << 20);
  }

  void TearDown() override {
    if (child_ > 0) EXPECT_EQ(Finish(), 0);
  }

  // Ends the input of the file helper, and returns its exit status.
  int Finish() {
    ours_.Reset();
    int status = 0;
    EXPECT_GT(::waitpid(std::exchange(child_, -1), &status, 0), 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  Channel::Line SendLine(std::string line) {
    EXPECT_TRUE(channel_->Send(std::move(line)));
    auto answer = channel_->Receive();
    if (answer && *answer) return **std::move(answer);
    ADD_FAILURE() << "no answer";
    return {};
  }
  Message Do(std::string_view operation, std::string_view params) {
    return Message(SendLine(Request(operation, params)).text);
  }
  // Returns the code of the error, or 0 for success.
  int64_t CodeOf(std::string_view operation, std::string_view params) {
    const Message answer = Do(operation, params);
    if (answer.Text("status") == "error") return answer.Number("payload.code");
    EXPECT_EQ(answer.Text("payload.operation"), operation);
    return 0;
  }

  std::string In(std::string_view name) const { return dir_.path() + "/" + std::string(name); }
  std::string At(std::string_view name, std::string_view more = "") const {
    return fmt::format(R"({{"path":{}{}{}}})", Quoted(In(name)), more.empty() ? "" : ",", more);
  }
  std::string FromTo(std::string_view source, std::string_view destination, std::string_view more = "") const {
    return fmt::format(R"({{"sourcePath":{},"destinationPath":{}{}{}}})", Quoted(In(source)), Quoted(In(destination)),
                       more.empty() ? "" : ",", more);
  }

  support::ScratchDir dir_;
  OwnedFd ours_;
  pid_t child_ = -1;
  std::optional<Channel> channel_;
};

constexpr char kWalk[] =
    R"("options":{"maxDepth":9,"maxDirectories":9,"maxEntries":9,"followDirectorySymlinks":false})";

TEST_F(HelperMainTest, DoesEveryOperationOneAfterTheOther) {
  EXPECT_EQ(CodeOf("fs/createDirectory", At("a/b")), 0);
  EXPECT_EQ(CodeOf("fs/writeFile", At("a/file", fmt::format(R"("dataBase64":"{}")", Base64("hello")))), 0);
  const Message metadata = Do("fs/getMetadata", At("a/file"));
  EXPECT_EQ(metadata.Number("payload.response.size"), 5);
  EXPECT_TRUE(metadata.Flag("payload.response.isFile"));
  EXPECT_EQ(Do("fs/canonicalize", At("a/b")).Text("payload.response.path"), FileUri(In("a/b")));
  EXPECT_EQ(CodeOf("fs/copy", FromTo("a", "c", R"("recursive":true)")), 0);
  EXPECT_EQ(CodeOf("fs/rename", FromTo("c/file", "c/moved")), 0);
  EXPECT_EQ(Do("fs/readDirectory", At("c")).Size("payload.response.entries"), 2u);
  const Message walked = Do("fs/walk", At("", kWalk));
  EXPECT_EQ(walked.Size("payload.response.entries"), 6u) << walked;
  EXPECT_EQ(walked.Text("payload.response.entries.0.path"), FileUri(In("a")));
  EXPECT_EQ(CodeOf("fs/remove", At("c")), 0);
  EXPECT_EQ(CodeOf("fs/getMetadata", At("c")), -32004);
}

TEST_F(HelperMainTest, KeepsNamesAbsent) {
  const std::string data = fmt::format(R"("dataBase64":"{}")", Base64("x"));
  for (const char* name : {"absent", "absent/below", "gone/a/b"}) {
    EXPECT_EQ(CodeOf("fs/writeFile", At(name, data)), -32603) << name;
    EXPECT_EQ(CodeOf("fs/createDirectory", At(name)), -32603) << name;
    EXPECT_EQ(CodeOf("fs/open", At(name, R"("mode":"replace")")), -32603) << name;
    EXPECT_EQ(CodeOf("fs/getMetadata", At(name)), -32004) << name;
  }
  EXPECT_EQ(CodeOf("fs/writeFile", At("other", data)), 0);
  EXPECT_EQ(CodeOf("fs/rename", FromTo("other", "absent")), -32603);
  EXPECT_EQ(CodeOf("fs/copy", FromTo("other", "absent", R"("recursive":false)")), -32603);
  EXPECT_EQ(CodeOf("fs/remove", At("absent")), -32603);
}

TEST_F(HelperMainTest, IsStaleAsSoonAsANameExists) {
  dir_.Write("file", "text");
  EXPECT_EQ(CodeOf("fs/getMetadata", At("file")), 0);
  dir_.Write("absent", "secret");
  for (const char* name : {"file", "absent"}) {
    EXPECT_EQ(SendLine(Request("fs/getMetadata", At(name))).text, kStale);
    const Channel::Line opened = SendLine(Request("fs/open", At(name)));
    EXPECT_EQ(opened.text, kStale);
    EXPECT_FALSE(opened.fd.is_open());
    EXPECT_EQ(SendLine(Request("fs/remove", At(name))).text, kStale);
  }
  EXPECT_EQ(::access(In("file").c_str(), F_OK), 0);
}

TEST_F(HelperMainTest, PassesTheFileThatItOpens) {
  dir_.Write("file", "hello");
  const Channel::Line reading = SendLine(Request("fs/open", At("file")));
  EXPECT_EQ(*ReadAnswer("fs/open", reading.text), "{}");
  char text[6] = {};
  EXPECT_EQ(::read(reading.fd.get(), text, 5), 5);
  EXPECT_STREQ(text, "hello");
  EXPECT_LT(::write(reading.fd.get(), "x", 1), 0) << "opened for reading";
  const Channel::Line writing = SendLine(Request("fs/open", At("new", R"("mode":"replace")")));
  EXPECT_EQ(::write(writing.fd.get(), "x", 1), 1);
  struct stat status;
  ASSERT_EQ(::stat(In("new").c_str(), &status), 0);
  EXPECT_EQ(status.st_size, 1);
}

TEST_F(HelperMainTest, PassesNoFileWithAFailureOrAnythingElse) {
  ASSERT_EQ(::mkfifo(In("fifo").c_str(), 0600), 0);
  for (const std::string name : {"missing", "fifo", ""}) {
    const Channel::Line line = SendLine(Request("fs/open", At(name)));
    EXPECT_FALSE(line.fd.is_open()) << name;
    EXPECT_FALSE(ReadAnswer("fs/open", line.text)) << name;
  }
  EXPECT_FALSE(SendLine(Request("fs/getMetadata", At(""))).fd.is_open());
}

TEST_F(HelperMainTest, FailsWithTheCodesOfTheServer) {
  dir_.Write("file", "hello");
  EXPECT_EQ(CodeOf("fs/open", At("missing")), -32004);
  EXPECT_EQ(CodeOf("fs/open", At("")), -32600);
  EXPECT_EQ(CodeOf("fs/writeFile", At("file", R"("dataBase64":"?")")), -32600);
  EXPECT_EQ(CodeOf("fs/createDirectory", At("file")), -32603);
  EXPECT_EQ(CodeOf("fs/rename", FromTo("missing", "x")), -32004);
  EXPECT_EQ(CodeOf("fs/copy", FromTo("file", "x")), -32602) << "recursive is missing";
  EXPECT_EQ(CodeOf("fs/remove", "{}"), -32602);
  const Message failed = Do("fs/getMetadata", At("missing"));
  EXPECT_EQ(failed.Text("payload.message"), fmt::format("stat {}: No such file or directory", In("missing")));
}

TEST_F(HelperMainTest, AnswersWhatItDoesNotKnowAndGoesOn) {
  const Message unknown = Do("fs/readFile", At("file"));
  EXPECT_EQ(unknown.Number("payload.code"), -32601);
  EXPECT_THAT(unknown.Text("payload.message"), HasSubstr("fs/readFile"));
  for (const std::string line :
       {"", "nonsense", "[]", "{}", R"({"operation":"fs/remove"})", R"({"operation":1,"params":{}})",
        R"({"operation":"fs/remove","params":[]})", "\xff"}) {
    EXPECT_EQ(Message(SendLine(line).text).Text("status"), "error") << line;
  }
  EXPECT_EQ(CodeOf("fs/getMetadata", At("")), 0);
}

TEST_F(HelperMainTest, TakesRequestsThatArriveTogetherInTheirOrder) {
  const std::string requests = Request("fs/createDirectory", At("a")) + "\n" + Request("fs/rename", FromTo("a", "b")) +
                               "\n" + Request("fs/getMetadata", At("b"));
  EXPECT_TRUE(channel_->Send(requests));
  for (int i = 0; i < 3; ++i) {
    const auto answer = channel_->Receive();
    ASSERT_TRUE(answer && *answer) << i;
    EXPECT_EQ(Message((*answer)->text).Text("status"), "ok") << i;
  }
}

TEST_F(HelperMainTest, TakesARequestOfManyMegabytes) {
  const std::string content(8u << 20, 'x');
  EXPECT_EQ(CodeOf("fs/writeFile", At("file", fmt::format(R"("dataBase64":"{}")", Base64(content)))), 0);
  struct stat status;
  ASSERT_EQ(::stat(In("file").c_str(), &status), 0);
  EXPECT_EQ(status.st_size, 8 << 20);
}

TEST_F(HelperMainTest, EndsWellWithItsInput) { EXPECT_EQ(Finish(), 0); }

TEST_F(HelperMainTest, EndsBadlyInTheMiddleOfARequest) {
  ASSERT_EQ(::write(ours_.get(), "{\"op", 4), 4);
  EXPECT_EQ(Finish(), 1);
}

TEST_F(HelperMainTest, LeavesNoDescriptorOpen) {
  dir_.Write("file", "hello");
  for (rlim_t i = 0; i < 2 * kMaxFds; ++i) ASSERT_TRUE(SendLine(Request("fs/open", At("file"))).fd.is_open()) << i;
  EXPECT_EQ(CodeOf("fs/open", At("file")), 0);
}

}  // namespace
}  // namespace holdfast::files
