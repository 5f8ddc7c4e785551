#include "exec_server/session/attachment.h"

#include "exec_server/files/fs_fixture.h"
#include "support/proc.h"

namespace holdfast::exec_server {
namespace {

using testing::ElementsAre;

// Tests of what belongs to one connection, by requests that follow each other on it.
class AttachmentTest : public FsFixture {
 protected:
  static std::string Opening(int id, std::string_view path) {
    return fmt::format(R"({{"handleId":"{}","path":{}}})", id, support::Quoted(path));
  }
  static std::string Reading(int id) { return fmt::format(R"({{"handleId":"{}","offset":0,"len":100}})", id); }

  static size_t OpenFds() { return support::CountFds(::getpid()); }

  // Makes the server start its workers and open what it opens only once.
  void WarmUp() {
    for (int i = 0; i < 8; ++i) (void)Do("fs/canonicalize", At(Path()));
    (void)Do("fs/watchMissing", R"({"watchId":1,"missing":["/missing"]})");
    MakeFile("file", "text");
    for (int i = 0; i < 2; ++i) (void)Do("fs/readFile", At(Path("file")));
  }

  // Makes the transport congested. One more request is answered by a worker; further ones wait.
  void Congest(Client& client) {
    client.transport->is_congested = true;
    EXPECT_EQ(Call(client, "fs/readDirectory", At(Path())).error_code(), 0);
  }

  // Runs several requests of another client to their end. Requests that were started before, and do not have to wait,
  // have ended by then.
  void LetOthersPass() {
    Client& other = ConnectReady();
    for (int i = 0; i < 8; ++i) ASSERT_EQ(Call(other, "fs/canonicalize", At(Path())).error_code(), 0);
  }
};

TEST_F(AttachmentTest, LetsRequestsForOnePathSeeEachOtherWithoutWaitingForAnswers) {
  Client& me = Me();
  const int write = me.Ask("fs/writeFile", At(Path("a"), Data("one")));
  const int read = me.Ask("fs/readFile", At(FileUri(Path("a"))));
  const int rewrite = me.Ask("fs/writeFile", At(Path("a"), Data("other")));
  const int describe = me.Ask("fs/getMetadata", At(Path("a")));
  const int rename = me.Ask("fs/rename", FromTo(Path("a"), Path("b")));
  const int gone = me.Ask("fs/getMetadata", At(Path("a")));
  const int copy = me.Ask("fs/copy", FromTo(Path("b"), Path("c"), R"("recursive":false)"));
  const int read_copy = me.Ask("fs/readFile", At(Path("c")));
  const int remove = me.Ask("fs/remove", At(Path("b")));
  const int removed = me.Ask("fs/readFile", At(Path("b")));
  for (const int id : {write, read, rewrite, describe, rename, copy, read_copy, remove}) EXPECT_EQ(CodeOf(id), 0) << id;
  EXPECT_EQ(CodeOf(gone), -32004);
  EXPECT_EQ(CodeOf(removed), -32004);
  EXPECT_EQ(me.AnswerTo(read)->Bytes("result.dataBase64"), "one");
  EXPECT_EQ(me.AnswerTo(describe)->Number("result.size"), 5);
  EXPECT_EQ(me.AnswerTo(read_copy)->Bytes("result.dataBase64"), "other");
}

// The requests are so many that some would overtake others if they could.
TEST_F(AttachmentTest, KeepsManyRequestsForOnePathInOrder) {
  Client& me = Me();
  me.Forget();
  std::vector<int> reads, lists;
  for (int i = 0; i < 30; ++i) {
    me.Ask("fs/writeFile", At(Path("file"), Data(std::string(20'000, 'x') + std::to_string(i))));
    reads.push_back(me.Ask("fs/readFile", At(Path("file"))));
    me.Ask("fs/createDirectory", At(Path("a/b/c")));
    me.Ask("fs/writeFile", At(Path("a/b/c/file"), Data("text")));
    lists.push_back(me.Ask("fs/readDirectory", At(Path("a/b/c"))));
    me.Ask("fs/remove", At(Path("a")));
  }
  ASSERT_TRUE(RunUntil([&] { return me.sent().size() == 180; }));
  for (int i = 0; i < 30; ++i) {
    const size_t index = static_cast<size_t>(i);
    EXPECT_EQ(me.AnswerTo(reads[index])->Bytes("result.dataBase64").substr(20'000), std::to_string(i));
    EXPECT_EQ(me.AnswerTo(lists[index])->Text("result.entries.0.fileName"), "file") << i;
  }
}

TEST_F(AttachmentTest, LetsRequestsForATreeAndWhatIsInItSeeEachOther) {
  Client& me = Me();
  const int create = me.Ask("fs/createDirectory", At(Path("a/b")));
  const int write = me.Ask("fs/writeFile", At(Path("a/b/file"), Data("text")));
  const int list = me.Ask("fs/readDirectory", At(Path("a/b")));
  const int walk = me.Ask("fs/walk", At(Path("a"), R"("options":{"maxDepth":9,"maxDirectories":9,"maxEntries":9,)"
                                                   R"("followDirectorySymlinks":false})"));
  const int remove = me.Ask("fs/remove", At(Path("a")));
  const int describe = me.Ask("fs/getMetadata", At(Path("a/b/file")));
  for (const int id : {create, write, list, walk, remove}) EXPECT_EQ(CodeOf(id), 0) << id;
  EXPECT_EQ(me.AnswerTo(list)->Text("result.entries.0.fileName"), "file");
  EXPECT_EQ(me.AnswerTo(walk)->Size("result.entries"), 2u);
  EXPECT_EQ(CodeOf(describe), -32004);
}

TEST_F(AttachmentTest, ClosesFilesWhenTheClientLeaves) {
  WarmUp();
  const size_t before = OpenFds();
  for (int i = 0; i < 50; ++i) ASSERT_EQ(CodeOf("fs/open", Opening(i, Path("file"))), 0);
  EXPECT_EQ(OpenFds(), before + 50);
  Me().transport->Disconnect();
  EXPECT_TRUE(RunUntil([&] { return OpenFds() == before; })) << OpenFds() - before;
}

TEST_F(AttachmentTest, ClosesFilesThatAreStillBeingOpenedWhenTheClientLeaves) {
  WarmUp();
  MakeFile("file", std::string(100'000, 'x'));
  const size_t before = OpenFds();
  for (int round = 0; round < 20; ++round) {
    Client& client = ConnectReady();
    for (int i = 0; i < 20; ++i) {
      client.Ask("fs/open", Opening(i, Path("file")));
      client.Ask("fs/readBlock", Reading(i));
      client.Ask("fs/readFile", At(Path("file")));
      client.Ask("fs/getMetadata", At(Path("never seen")));
      client.Ask("fs/watchMissing", fmt::format(R"({{"watchId":{},"missing":["{}"]}})", i, Path("missing")));
      if (i % 3 == 0) client.Ask("fs/close", fmt::format(R"({{"handleId":"{}"}})", i));
    }
    for (int i = 0; i < round; ++i) loop_.Post([] {});
    support::RunReady(loop_);
    client.transport->Disconnect();
  }
  EXPECT_TRUE(RunUntil([&] { return OpenFds() == before; })) << OpenFds() - before;
}

TEST_F(AttachmentTest, DoesNotGiveFilesToTheNextConnectionOfTheSession) {
  Client& me = Me();
  const std::string session = Message(me.sent().at(0)).Text("result.sessionId");
  ASSERT_EQ(CodeOf("fs/open", Opening(1, MakeFile("file", "text"))), 0);
  me.transport->Disconnect();
  Client& resumed = ConnectReady(fmt::format(R"(,"resumeSessionId":"{}")", session));
  EXPECT_EQ(Call(resumed, "fs/readBlock", Reading(1)).error_code(), -32004);
  EXPECT_EQ(Call(resumed, "fs/open", Opening(1, Path("file"))).error_code(), 0);
}

TEST_F(AttachmentTest, HoldsFileRequestsWhileTheClientDoesNotTakeItsAnswers) {
  MakeFile("file", "text");
  ASSERT_EQ(CodeOf("fs/open", Opening(1, Path("file"))), 0);
  Client& me = Me();
  Congest(me);
  const std::vector<int> held = {me.Ask("fs/readFile", At(Path("file"))), me.Ask("fs/readBlock", Reading(1)),
                                 me.Ask("fs/getMetadata", At(Path("file"))), me.Ask("fs/readDirectory", At(Path())),
                                 me.Ask("fs/writeFile", At(Path("new"), Data("x")))};
  LetOthersPass();
  for (const int id : held) EXPECT_FALSE(me.AnswerTo(id)) << id;
  EXPECT_NE(::access(Path("new").c_str(), F_OK), 0);
  me.transport->Drain();
  for (const int id : held) EXPECT_EQ(CodeOf(id), 0) << id;
}

TEST_F(AttachmentTest, HoldsAgainWhenTheClientStopsAgain) {
  MakeFile("file", "text");
  Client& me = Me();
  for (int round = 0; round < 3; ++round) {
    Congest(me);
    const int held = me.Ask("fs/readFile", At(Path("file")));
    LetOthersPass();
    EXPECT_FALSE(me.AnswerTo(held));
    me.transport->Drain();
    EXPECT_EQ(CodeOf(held), 0);
  }
}

TEST_F(AttachmentTest, DropsWhatIsHeldWhenTheClientLeaves) {
  MakeFile("file", "text");
  Client& me = Me();
  Congest(me);
  me.Ask("fs/writeFile", At(Path("new"), Data("x")));
  me.transport->Disconnect();
  LetOthersPass();
  EXPECT_THAT(files::NamesIn(Path()), ElementsAre("file"));
}

}  // namespace
}  // namespace holdfast::exec_server
