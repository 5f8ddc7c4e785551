#include "exec_server/files/fs_watch_service.h"

#include <filesystem>

#include "exec_server/files/fs_fixture.h"
#include "support/proc.h"

namespace holdfast::exec_server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class FsWatchServiceTest : public FsFixture {
 protected:
  using Paths = std::vector<std::string>;

  static std::string Params(uint64_t id, const Paths& missing, const std::string& more = "") {
    std::string list;
    for (const std::string& path : missing) list += (list.empty() ? "" : ",") + support::Quoted(path);
    return fmt::format(R"({{"watchId":{},"missing":[{}]{}}})", id, list, more);
  }
  static std::string Present(const std::string& path) { return fmt::format(R"(,"present":{})", support::Quoted(path)); }

  bool Watch(Client& client, uint64_t id, const Paths& missing, const std::string& more = "") {
    return Call(client, "fs/watchMissing", Params(id, missing, more)).Flag("result.watching");
  }
  bool Watch(uint64_t id, const Paths& missing, const std::string& more = "") { return Watch(Me(), id, missing, more); }

  static std::vector<uint64_t> Changed(const Client& client) {
    std::vector<uint64_t> ids;
    for (const Message& notification : client.Notifications("fs/missingChanged")) {
      ids.push_back(notification.json().Find("params").Find("watchId").uint64().value_or(0));
    }
    return ids;
  }

  // Returns whether the client is notified of the watch with this id, and checks that it is notified of nothing else.
  bool Fires(Client& client, uint64_t id) {
    const bool fired = RunUntil([&] { return !Changed(client).empty(); });
    EXPECT_THAT(Changed(client), ElementsAre(id));
    client.Forget();
    return fired;
  }
  bool Fires(uint64_t id) { return Fires(Me(), id); }

  // Checks that no notification comes. A watch of another client on another path is made to fire; any notification that
  // was due before has been sent by then.
  void ExpectSilence() {
    Client& witness = ConnectReady();
    const std::string path = Path(fmt::format("witness {}", clients_.size()));
    ASSERT_TRUE(Watch(witness, 1, {path}));
    ASSERT_EQ(::mkdir(path.c_str(), 0755), 0);
    ASSERT_TRUE(RunUntil([&] { return !Changed(witness).empty(); }));
    EXPECT_THAT(Changed(Me()), IsEmpty());
  }
};

TEST_F(FsWatchServiceTest, TellsOnceWhenSomethingAppears) {
  ASSERT_TRUE(Watch(1, {Path("a"), FileUri(Path("\xff\n"))}));
  MakeFile("b");
  ExpectSilence();
  MakeFile("\xff\n");
  EXPECT_TRUE(Fires(1));
  MakeFile("a");
  ExpectSilence();
}

TEST_F(FsWatchServiceTest, TellsOfEveryKindOfThingThatAppears) {
  uint64_t id = 0;
  const auto try_one = [&](const char* name, const auto& act) {
    ASSERT_TRUE(Watch(++id, {Path(name)})) << name;
    act();
    EXPECT_TRUE(Fires(id)) << name;
  };
  try_one("directory", [&] { MakeDirectory("directory"); });
  try_one("fifo", [&] { MakeFifo("fifo"); });
  try_one("link", [&] { MakeLink("link", "nowhere"); });
  try_one("moved", [&] { ASSERT_EQ(::rename(Path("fifo").c_str(), Path("moved").c_str()), 0); });
  try_one("gone", [&] {
    MakeFile("gone");
    ASSERT_EQ(::unlink(Path("gone").c_str()), 0);
  });
  try_one("deep/down/here", [&] { MakeDirectory("deep"); });
}

TEST_F(FsWatchServiceTest, TellsWhenWhatWasThereChanges) {
  uint64_t id = 0;
  const std::string file = MakeFile("file", "old"), missing = Path("missing");
  const auto try_one = [&](const char* what, const auto& act) {
    ASSERT_TRUE(Watch(++id, {missing}, Present(FileUri(file)))) << what;
    act();
    EXPECT_TRUE(Fires(id)) << what;
  };
  try_one("written", [&] { MakeFile("file", "new"); });
  try_one("mode changed", [&] { ASSERT_EQ(::chmod(file.c_str(), 0600), 0); });
  try_one("replaced", [&] { ASSERT_EQ(::rename(MakeFile("other").c_str(), file.c_str()), 0); });
  try_one("moved away", [&] { ASSERT_EQ(::rename(file.c_str(), Path("elsewhere").c_str()), 0); });
  MakeFile("file");
  try_one("removed", [&] { ASSERT_EQ(::unlink(file.c_str()), 0); });
}

TEST_F(FsWatchServiceTest, DoesNotMindThatSomebodyLooks) {
  const std::string file = MakeFile("file", "text");
  ASSERT_TRUE(Watch(1, {Path("missing")}, Present(file)));
  EXPECT_EQ(files::ReadAll(file), "text");
  EXPECT_FALSE(std::filesystem::exists(Path("missing")));
  MakeFile("sibling");
  ExpectSilence();
}

TEST_F(FsWatchServiceTest, DoesNotWatchWhatIsNotAsTheClientBelieves) {
  MakeFile("file");
  MakeLink("dangling", "nowhere");
  MakeLink("way", ".");
  uint64_t id = 0;
  for (const Paths& missing : std::vector<Paths>{{},
                                                 {Path("file")},
                                                 {Path("missing"), Path("file")},
                                                 {Path("dangling")},
                                                 {Path("file/below")},
                                                 {Path("way/missing")},
                                                 {"/"},
                                                 {Path(std::string(256, 'n'))},
                                                 {"/proc/missing"}}) {
    EXPECT_FALSE(Watch(++id, missing)) << testing::PrintToString(missing);
  }
  for (const char* present : {"missing too", "dangling", "way", "way/file", "file/below"}) {
    EXPECT_FALSE(Watch(++id, {Path("missing")}, Present(Path(present)))) << present;
  }
  for (const std::string& more : {std::string(), std::string(R"(,"present":null)"), Present(Path("file")),
                                  Present(Path()), Present("/"), Present(Path("file/"))}) {
    EXPECT_TRUE(Watch(++id, {Path("missing"), Path("missing"), Path("missing/")}, more)) << more;
  }
}

TEST_F(FsWatchServiceTest, WatchesUpTo64Paths) {
  Paths missing;
  for (int i = 0; i < 64; ++i) missing.push_back(Path(std::to_string(i)));
  EXPECT_TRUE(Watch(1, missing));
  missing.push_back(Path("more"));
  EXPECT_FALSE(Watch(2, missing));
}

TEST_F(FsWatchServiceTest, HasOneWatchPerConnection) {
  ASSERT_TRUE(Watch(1, {Path("a")}));
  ASSERT_TRUE(Watch(2, {Path("b")}));
  MakeFile("a");
  ExpectSilence();
  MakeFile("b");
  EXPECT_TRUE(Fires(2));
}

TEST_F(FsWatchServiceTest, EndsAWatchByALargerIdAlsoWhenThatWatchesNothing) {
  ASSERT_TRUE(Watch(1, {Path("a")}));
  EXPECT_FALSE(Watch(2, {}));
  MakeFile("a");
  ExpectSilence();
}

TEST_F(FsWatchServiceTest, HeedsNoIdThatIsNotLargerThanTheLast) {
  ASSERT_TRUE(Watch(7, {Path("a")}));
  EXPECT_FALSE(Watch(7, {Path("b")}));
  EXPECT_FALSE(Watch(0, {Path("b")}));
  MakeFile("b");
  ExpectSilence();
  MakeFile("a");
  EXPECT_TRUE(Fires(7));
  EXPECT_FALSE(Watch(7, {Path("c")}));
  EXPECT_FALSE(Watch(9, {}));
  EXPECT_FALSE(Watch(8, {Path("c")}));
  EXPECT_TRUE(Watch(UINT64_MAX, {Path("c")}));
  MakeFile("c");
  EXPECT_TRUE(Fires(UINT64_MAX));
  EXPECT_FALSE(Watch(UINT64_MAX, {Path("d")}));
}

TEST_F(FsWatchServiceTest, LeavesTheWatchAloneWhenARequestCannotBeRead) {
  ASSERT_TRUE(Watch(1, {Path("a")}));
  for (const char* params :
       {"null", "{}", R"({"watchId":2})", R"({"missing":[]})", R"({"watchId":2,"missing":null})",
        R"({"watchId":2,"missing":"/x"})", R"({"watchId":2,"missing":[5]})", R"({"watchId":"2","missing":[]})",
        R"({"watchId":-1,"missing":[]})", R"({"watchId":18446744073709551616,"missing":[]})",
        R"({"watchId":2,"missing":["relative"]})", R"({"watchId":2,"missing":["/x"],"present":"relative"})",
        R"({"watchId":2,"missing":["/x"],"present":5})"}) {
    EXPECT_EQ(CodeOf("fs/watchMissing", params), -32602) << params;
  }
  MakeFile("a");
  EXPECT_TRUE(Fires(1));
  EXPECT_TRUE(Watch(2, {Path("b")}));
}

TEST_F(FsWatchServiceTest, KeepsTheWatchesOfConnectionsApart) {
  Client &a = Me(), &b = ConnectReady();
  ASSERT_TRUE(Watch(a, 5, {Path("x")}));
  ASSERT_TRUE(Watch(b, 5, {Path("x")}));
  MakeFile("x");
  EXPECT_TRUE(Fires(a, 5));
  EXPECT_TRUE(Fires(b, 5));
  ASSERT_TRUE(Watch(a, 6, {Path("y")}));
  EXPECT_TRUE(Watch(b, 6, {Path("z")}));
  MakeFile("y");
  EXPECT_TRUE(Fires(a, 6));
  EXPECT_THAT(Changed(b), IsEmpty());
}

TEST_F(FsWatchServiceTest, DiesWithTheConnection) {
  Client& me = Me();
  const std::string session = Message(me.sent().at(0)).Text("result.sessionId");
  ASSERT_TRUE(Watch(9, {Path("a")}));
  me.transport->Disconnect();
  Client& resumed = ConnectReady(fmt::format(R"(,"resumeSessionId":"{}")", session));
  MakeFile("a");
  ExpectSilence();
  EXPECT_THAT(Changed(resumed), IsEmpty());
  EXPECT_TRUE(Watch(resumed, 1, {Path("b")}));  // each connection numbers its watches from the beginning
  MakeFile("b");
  EXPECT_TRUE(Fires(resumed, 1));
}

TEST_F(FsWatchServiceTest, DoesNotMindAClientThatLeavesBeforeTheAnswer) {
  for (int i = 0; i < 20; ++i) {
    Client& client = ConnectReady();
    client.Ask("fs/watchMissing", Params(1, {Path("a")}));
    client.transport->Disconnect();
  }
  ExpectSilence();
  MakeFile("a");
  ExpectSilence();
}

TEST_F(FsWatchServiceTest, KeepsOnlyTheLastOfManyPipelinedWatches) {
  std::vector<int> ids;
  for (uint64_t i = 1; i <= 100; ++i) ids.push_back(Me().Ask("fs/watchMissing", Params(i, {Path(std::to_string(i))})));
  for (const int id : ids) {
    ASSERT_TRUE(RunUntilAnswered(id));
    EXPECT_EQ(Me().AnswerTo(id)->Flag("result.watching"), id == ids.back()) << id;
  }
  for (uint64_t i = 1; i < 100; ++i) MakeFile(std::to_string(i));
  ExpectSilence();
  MakeFile("100");
  EXPECT_TRUE(Fires(100));
}

TEST_F(FsWatchServiceTest, WaitsForWritesThatCameBefore) {
  Client& me = Me();
  const int write = me.Ask("fs/writeFile", At(Path("a"), Data("x")));
  const int watch = me.Ask("fs/watchMissing", Params(1, {Path("a")}));
  EXPECT_EQ(CodeOf(write), 0);
  ASSERT_TRUE(RunUntilAnswered(watch));
  EXPECT_FALSE(me.AnswerTo(watch)->Flag("result.watching"));
}

TEST_F(FsWatchServiceTest, NeedsOneInotifyInstanceForAll) {
  ASSERT_TRUE(Watch(1, {Path("a")}));
  const size_t before = support::CountFds(::getpid());
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(Watch(ConnectReady(), 1, {Path(fmt::format("{}/x", i))}));
  EXPECT_EQ(support::CountFds(::getpid()), before);
}

}  // namespace
}  // namespace holdfast::exec_server
