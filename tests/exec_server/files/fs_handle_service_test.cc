#include "exec_server/files/fs_handle_service.h"

#include "exec_server/files/fs_fixture.h"

namespace holdfast::exec_server {
namespace {

using testing::HasSubstr;

constexpr uint64_t kMaxBlock = 1u << 20;
constexpr uint64_t kMaxOffset = INT64_MAX;

class FsHandleServiceTest : public FsFixture {
 protected:
  static std::string Opening(std::string_view id, std::string_view path, std::string_view mode = "read") {
    return fmt::format(R"({{"handleId":{},"path":{},"mode":"{}"}})", support::Quoted(id), support::Quoted(path), mode);
  }
  static std::string Reading(std::string_view id, uint64_t offset, uint64_t len) {
    return fmt::format(R"({{"handleId":{},"offset":{},"len":{}}})", support::Quoted(id), offset, len);
  }
  static std::string Writing(std::string_view id, uint64_t offset, std::string_view bytes) {
    return fmt::format(R"({{"handleId":{},"offset":{},"chunk":"{}"}})", support::Quoted(id), offset,
                       support::Base64(bytes));
  }
  static std::string Closing(std::string_view id) { return fmt::format(R"({{"handleId":{}}})", support::Quoted(id)); }

  int64_t Open(std::string_view id, std::string_view path, std::string_view mode = "read") {
    const Message answer = Do("fs/open", Opening(id, path, mode));
    if (answer.error_code() == 0) EXPECT_EQ(answer.Text("result.handleId"), id);
    return answer.error_code();
  }
  // `mode` is JSON, with any members behind it.
  int64_t OpenWith(std::string_view id, std::string_view path, std::string_view mode) {
    return CodeOf("fs/open", fmt::format(R"({{"handleId":"{}","path":"{}","mode":{}}})", id, path, mode));
  }
  int64_t Read(std::string_view id, uint64_t offset, uint64_t len) {
    return CodeOf("fs/readBlock", Reading(id, offset, len));
  }
  int64_t Write(std::string_view id, uint64_t offset, std::string_view bytes) {
    return CodeOf("fs/writeBlock", Writing(id, offset, bytes));
  }
  int64_t Close(std::string_view id) { return CodeOf("fs/close", Closing(id)); }

  // Reads a block and returns "text", or "text, end" at the end of the file.
  std::string Block(std::string_view id, uint64_t offset, uint64_t len) {
    const Message answer = Do("fs/readBlock", Reading(id, offset, len));
    return answer.Bytes("result.chunk") + (answer.Flag("result.eof") ? ", end" : "");
  }
};

TEST_F(FsHandleServiceTest, ReadsBlocksOfAFile) {
  const std::string path = MakeFile("file", "0123456789");
  ASSERT_EQ(Open("h", FileUri(path)), 0);
  EXPECT_EQ(Block("h", 0, 4), "0123");
  EXPECT_EQ(Block("h", 4, 3), "456");
  EXPECT_EQ(Block("h", 7, 3), "789");  // a full block does not tell of the end, although nothing follows
  EXPECT_EQ(Block("h", 7, 4), "789, end");
  EXPECT_EQ(Block("h", 10, 1), ", end");
  EXPECT_EQ(Block("h", 1000, kMaxBlock), ", end");
  EXPECT_EQ(Block("h", kMaxOffset - 1, 1), ", end");
  EXPECT_EQ(Close("h"), 0);
  EXPECT_EQ(Read("h", 0, 1), -32004);
}

TEST_F(FsHandleServiceTest, ReadsAnEmptyFileAndOneWithoutASize) {
  ASSERT_EQ(Open("empty", MakeFile("empty")), 0);
  EXPECT_EQ(Block("empty", 0, 1), ", end");
  ASSERT_EQ(Open("proc", "/proc/version"), 0);
  EXPECT_EQ(Block("proc", 0, kMaxBlock), files::ReadAll("/proc/version") + ", end");
}

TEST_F(FsHandleServiceTest, ReadsBlocksOfUpToAMebibyte) {
  const std::string bytes(kMaxBlock + 1, 'x');
  ASSERT_EQ(Open("h", MakeFile("file", bytes)), 0);
  EXPECT_TRUE(Block("h", 0, kMaxBlock) == bytes.substr(1));
  for (const uint64_t len : {uint64_t{0}, kMaxBlock + 1, UINT64_MAX}) EXPECT_EQ(Read("h", 0, len), -32600) << len;
  EXPECT_EQ(Block("h", kMaxBlock, 2), "x, end");  // the handle can still be used
}

TEST_F(FsHandleServiceTest, SeesTheFileAsItIsAtTheMoment) {
  const std::string path = MakeFile("file", "old");
  ASSERT_EQ(Open("h", path), 0);
  MakeFile("file", "grown larger");
  EXPECT_EQ(Block("h", 6, 100), "larger, end");
  ASSERT_EQ(::unlink(path.c_str()), 0);
  EXPECT_EQ(Block("h", 0, 5), "grown");
}

TEST_F(FsHandleServiceTest, ClosesAHandleWhoseReadFails) {
  MakeFile("file", "text");
  for (const uint64_t offset : {kMaxOffset, kMaxOffset + 1, UINT64_MAX}) {
    ASSERT_EQ(Open("h", Path("file")), 0);
    EXPECT_EQ(Read("h", offset, 1), -32600) << offset;
    EXPECT_EQ(Read("h", 0, 1), -32004) << offset;
  }
  ASSERT_EQ(Open("h", Path("new"), "replace"), 0);
  EXPECT_EQ(Read("h", 0, 1), -32603);
  EXPECT_EQ(Write("h", 0, "x"), -32004);
  ASSERT_EQ(Open("mem", "/proc/self/mem"), 0);
  EXPECT_EQ(Read("mem", 0, 1), -32603);
  EXPECT_EQ(Read("mem", 0, 1), -32004);
}

TEST_F(FsHandleServiceTest, WritesBlocksAnywhere) {
  ASSERT_EQ(Open("h", Path("new"), "replace"), 0);
  EXPECT_EQ(files::PermissionsOf(Path("new")), 0644u);
  EXPECT_EQ(files::ReadAll(Path("new")), "");
  EXPECT_EQ(Write("h", 3, "def"), 0);
  EXPECT_EQ(Write("h", 0, "abc"), 0);
  EXPECT_EQ(files::ReadAll(Path("new")), "abcdef");
  EXPECT_EQ(Write("h", 1'000'000, "end"), 0);
  EXPECT_EQ(files::StatOf(Path("new")).st_size, 1'000'003);
  EXPECT_EQ(Write("h", 0, std::string(kMaxBlock, 'x')), 0);
  EXPECT_EQ(Close("h"), 0);
  EXPECT_EQ(files::ReadAll(Path("new")), std::string(kMaxBlock, 'x'));
}

TEST_F(FsHandleServiceTest, EmptiesAFileItIsToReplaceAtOnceAndKeepsItsMode) {
  const std::string path = MakeFile("file", "old", 0640);
  MakeLink("link", "file");
  MakeLink("dangling", "made");
  ASSERT_EQ(Open("h", Path("link"), "replace"), 0);
  EXPECT_EQ(files::ReadAll(path), "");
  EXPECT_EQ(files::PermissionsOf(path), 0640u);
  ASSERT_EQ(Open("i", Path("dangling"), "replace"), 0);
  EXPECT_EQ(files::ReadAll(Path("made")), "");
}

TEST_F(FsHandleServiceTest, KeepsAHandleWhoseWriteFails) {
  ASSERT_EQ(Open("h", Path("new"), "replace"), 0);
  EXPECT_EQ(Write("h", 0, ""), -32600);
  EXPECT_EQ(Write("h", 0, std::string(kMaxBlock + 1, 'x')), -32600);
  for (const uint64_t offset : {kMaxOffset, kMaxOffset - 2, kMaxOffset + 1, UINT64_MAX}) {
    EXPECT_EQ(Write("h", offset, "abc"), -32600) << offset;
  }
  EXPECT_EQ(Write("h", kMaxOffset - 3, "abc"), -32603);  // the file would be larger than the file system allows
  for (const char* chunk : {R"("!")", R"("YQ")", R"("Y Q==")", R"("YR==")", R"("_-_-")", "null", "5"}) {
    EXPECT_EQ(CodeOf("fs/writeBlock", fmt::format(R"({{"handleId":"h","offset":0,"chunk":{}}})", chunk)), -32602)
        << chunk;
  }
  EXPECT_EQ(Write("h", 0, "good"), 0);
  EXPECT_EQ(files::ReadAll(Path("new")), "good");

  ASSERT_EQ(Open("r", MakeFile("file", "text")), 0);
  EXPECT_EQ(Write("r", 0, "x"), -32603);
  EXPECT_EQ(Block("r", 0, 4), "text");
}

TEST_F(FsHandleServiceTest, UpdatesAFileWithoutLosingWhatIsThere) {
  const std::string path = MakeFile("file", "0123456789", 0640);
  ASSERT_EQ(Open("h", path, "update"), 0);
  EXPECT_EQ(Write("h", 4, "ab"), 0);
  EXPECT_EQ(files::ReadAll(path), "0123ab6789");
  EXPECT_EQ(files::PermissionsOf(path), 0640u);
  EXPECT_EQ(Read("h", 0, 1), -32603);
  ASSERT_EQ(Open("i", Path("new"), "update"), 0);
  EXPECT_EQ(files::ReadAll(Path("new")), "");
}

TEST_F(FsHandleServiceTest, CutsAFileThatItGoesOnWith) {
  const std::string path = MakeFile("file", "0123456789");
  ASSERT_EQ(OpenWith("h", path, R"("update","size":4)"), 0);
  EXPECT_EQ(files::ReadAll(path), "0123");
  EXPECT_EQ(OpenWith("i", path, R"("update","size":5)"), -32600);
  EXPECT_EQ(files::ReadAll(path), "0123");
}

TEST_F(FsHandleServiceTest, GivesAFilePermissionsAndATime) {
  const std::string path = MakeFile("file", "text", 0600);
  ASSERT_EQ(OpenWith("h", path, R"("update","permissions":511,"modifiedAtMs":1234567890123)"), 0);
  EXPECT_EQ(files::PermissionsOf(path), 0755u);
  EXPECT_EQ(files::StatOf(path).st_mtim.tv_sec, 1'234'567'890);
  EXPECT_EQ(Do("fs/getMetadata", fmt::format(R"({{"path":"{}"}})", path)).Number("result.permissions"), 0755);
  ASSERT_EQ(OpenWith("i", Path("new"), R"("replace","permissions":448)"), 0);
  EXPECT_EQ(files::PermissionsOf(Path("new")), 0700u);
  EXPECT_EQ(OpenWith("j", Path("special"), R"("replace","permissions":2541)"), -32602);
  EXPECT_EQ(Open("j", Path("special")), -32004);
}

// Otherwise the blocks that follow would make a gap, and the file would look as if it was complete up to its end.
TEST_F(FsHandleServiceTest, ClosesAnUpdatedFileWhoseWriteFails) {
  ASSERT_EQ(Open("h", Path("new"), "update"), 0);
  EXPECT_EQ(Write("h", 0, "good"), 0);
  EXPECT_EQ(Write("h", kMaxOffset - 3, "abc"), -32603);  // the file would be larger than the file system allows
  EXPECT_EQ(Write("h", 8, "more"), -32004);
  EXPECT_EQ(files::ReadAll(Path("new")), "good");
  EXPECT_EQ(Close("h"), 0);
}

TEST_F(FsHandleServiceTest, ChecksABlockBeforeItLooksForTheHandle) {
  EXPECT_EQ(Read("unknown", 0, 0), -32600);
  EXPECT_EQ(Read("unknown", 0, 1), -32004);
  EXPECT_EQ(Read("", 0, 1), -32004);
  EXPECT_EQ(Write("unknown", 0, ""), -32600);
  EXPECT_EQ(Write("unknown", 0, "x"), -32004);
  EXPECT_EQ(CodeOf("fs/writeBlock", R"({"handleId":"unknown","offset":0,"chunk":"!"})"), -32602);
}

TEST_F(FsHandleServiceTest, OpensNothingButRegularFiles) {
  const std::string file = MakeFile("file", "text");
  MakeLink("loop", "loop");
  MakeLink("link", ".");
  MakeFifo("fifo");
  EXPECT_EQ(Open("h", Path("missing")), -32004);
  EXPECT_EQ(Open("h", Path("missing/parent"), "replace"), -32004);
  EXPECT_EQ(Open("h", MakeLink("dangling", "nowhere")), -32004);
  for (const char* mode : {"read", "replace"}) {
    EXPECT_EQ(Open("h", Path("file/below"), mode), -32603);
    EXPECT_EQ(Open("h", Path("loop"), mode), -32603);
    EXPECT_EQ(Open("h", Path(std::string(256, 'n')), mode), -32603);
    EXPECT_EQ(Open("h", Path("fifo"), mode), -32600);
    EXPECT_EQ(Open("h", "/dev/null", mode), -32600);
  }
  for (const std::string& path : {Path(), Path("link")}) {
    EXPECT_EQ(Open("h", path), -32600);
    EXPECT_EQ(Open("h", path, "replace"), -32603);
  }
  EXPECT_EQ(Open("h", file), 0);  // after all these failures the id is free
}

TEST_F(FsHandleServiceTest, OpensForReadingUnlessTold) {
  MakeFile("file", "text");
  EXPECT_EQ(CodeOf("fs/open", fmt::format(R"({{"handleId":"h","path":"{}"}})", Path("file"))), 0);
  EXPECT_EQ(Block("h", 0, 4), "text");
  for (const char* mode : {R"("append")", R"("Read")", "1", R"("")"}) {
    EXPECT_EQ(CodeOf("fs/open", fmt::format(R"({{"handleId":"i","path":"{}","mode":{}}})", Path("file"), mode)), -32602)
        << mode;
  }
  EXPECT_EQ(files::ReadAll(Path("file")), "text");
}

TEST_F(FsHandleServiceTest, TakesIdsOfUpTo32Bytes) {
  MakeFile("file", "text");
  const std::string e = "\xc3\xa9";
  for (const std::string& id :
       {std::string(), std::string(32, 'a'), e + e + e + e + e + e + e + e + e + e + e + e + e + e + e + e,
        std::string("new\nline"), std::string("n\0l", 3)}) {
    EXPECT_EQ(Open(id, Path("file")), 0) << id;
    EXPECT_EQ(Block(id, 0, 4), "text") << id;
    EXPECT_EQ(Close(id), 0) << id;
    EXPECT_EQ(Read(id, 0, 4), -32004) << id;
  }
  const std::string long_id(33, 'a');
  EXPECT_EQ(Open(long_id, Path("file")), -32600);
  EXPECT_EQ(Read(long_id, 0, 1), -32600);
  EXPECT_EQ(Write(long_id, 0, "x"), -32600);
  EXPECT_EQ(Close(long_id), -32600);
}

TEST_F(FsHandleServiceTest, OpensNoIdTwice) {
  MakeFile("file", "text");
  ASSERT_EQ(Open("h", Path("file")), 0);
  EXPECT_EQ(Open("h", Path("file")), -32600);
  EXPECT_EQ(Open("h", Path("missing")), -32600);
  EXPECT_EQ(Open("h", Path("file"), "replace"), -32600);
  EXPECT_EQ(files::ReadAll(Path("file")), "text");
  EXPECT_EQ(Block("h", 0, 4), "text");
  EXPECT_EQ(Close("h"), 0);
  EXPECT_EQ(Open("h", Path("file")), 0);
}

TEST_F(FsHandleServiceTest, KeepsTheHandlesOfConnectionsApart) {
  MakeFile("file", "text");
  ASSERT_EQ(Open("h", Path("file")), 0);
  Client& another = ConnectReady();
  EXPECT_EQ(Call(another, "fs/readBlock", Reading("h", 0, 1)).error_code(), -32004);
  EXPECT_EQ(Call(another, "fs/open", Opening("h", Path("file"))).error_code(), 0);
  EXPECT_EQ(Call(another, "fs/close", Closing("h")).error_code(), 0);
  EXPECT_EQ(Block("h", 0, 4), "text");
}

TEST_F(FsHandleServiceTest, OpensUpTo128FilesPerConnection) {
  MakeFile("file", "text");
  for (int i = 0; i < 128; ++i) ASSERT_EQ(Open(std::to_string(i), Path("file")), 0) << i;
  const Message answer = Do("fs/open", Opening("more", Path("new"), "replace"));
  EXPECT_EQ(answer.error_code(), -32600);
  EXPECT_THAT(answer.Text("error.message"), HasSubstr("128"));
  EXPECT_NE(::access(Path("new").c_str(), F_OK), 0);
  EXPECT_EQ(Close("77"), 0);
  EXPECT_EQ(Open("more", Path("new"), "replace"), 0);
  EXPECT_EQ(Block("127", 0, 4), "text");
}

TEST_F(FsHandleServiceTest, ClosesWhatIsNotOpenWithoutAWord) {
  for (const char* id : {"unknown", "", "unknown"}) EXPECT_EQ(Do("fs/close", Closing(id)).Has("result"), true) << id;
}

TEST_F(FsHandleServiceTest, RefusesParamsOfAnotherShape) {
  for (const char* method : {"fs/open", "fs/readBlock", "fs/writeBlock", "fs/close"}) {
    for (const char* params : {"null", "{}", "[]", R"({"handleId":null,"path":"/x","offset":0,"len":1,"chunk":"YQ=="})",
                               R"({"handleId":5,"path":"/x","offset":0,"len":1,"chunk":"YQ=="})"}) {
      EXPECT_EQ(CodeOf(method, params), -32602) << method << params;
    }
  }
  ASSERT_EQ(Open("h", MakeFile("file", "text")), 0);
  for (const char* number : {"null", "-1", "1.5", "4.0", R"("4")", "18446744073709551616"}) {
    EXPECT_EQ(CodeOf("fs/readBlock", fmt::format(R"({{"handleId":"h","offset":{},"len":1}})", number)), -32602);
    EXPECT_EQ(CodeOf("fs/readBlock", fmt::format(R"({{"handleId":"h","offset":0,"len":{}}})", number)), -32602);
    EXPECT_EQ(CodeOf("fs/writeBlock", fmt::format(R"({{"handleId":"h","offset":{},"chunk":"YQ=="}})", number)), -32602);
  }
  EXPECT_EQ(CodeOf("fs/readBlock", R"({"handleId":"h","len":1})"), -32602);
  EXPECT_EQ(CodeOf("fs/readBlock", R"({"handleId":"h","offset":1})"), -32602);
  EXPECT_EQ(CodeOf("fs/writeBlock", R"({"handleId":"h","chunk":"YQ=="})"), -32602);
  EXPECT_EQ(CodeOf("fs/writeBlock", R"({"handleId":"h","offset":1})"), -32602);
  EXPECT_EQ(Block("h", 0, 4), "text");
}

TEST_F(FsHandleServiceTest, TakesAWholeLifeOfAHandleInOneGo) {
  MakeFile("file", "text");
  Client& me = Me();
  const int open = me.Ask("fs/open", Opening("h", Path("file")));
  const int first = me.Ask("fs/readBlock", Reading("h", 0, 2));
  const int second = me.Ask("fs/readBlock", Reading("h", 2, 3));
  const int close = me.Ask("fs/close", Closing("h"));
  const int late = me.Ask("fs/readBlock", Reading("h", 0, 1));
  const int again = me.Ask("fs/open", Opening("h", Path("new"), "replace"));
  const int write = me.Ask("fs/writeBlock", Writing("h", 0, "new"));
  const int close_again = me.Ask("fs/close", Closing("h"));
  const int read = me.Ask("fs/readFile", At(Path("new")));
  for (const int id : {open, first, second, close, again, write, close_again, read}) EXPECT_EQ(CodeOf(id), 0) << id;
  EXPECT_EQ(CodeOf(late), -32004);
  EXPECT_EQ(me.AnswerTo(first)->Bytes("result.chunk") + me.AnswerTo(second)->Bytes("result.chunk"), "text");
  EXPECT_EQ(me.AnswerTo(read)->Bytes("result.dataBase64"), "new");
}

TEST_F(FsHandleServiceTest, FailsWhatWaitedForAnOpenThatFailed) {
  Client& me = Me();
  const int open = me.Ask("fs/open", Opening("h", Path("missing")));
  const int read = me.Ask("fs/readBlock", Reading("h", 0, 1));
  const int write = me.Ask("fs/writeBlock", Writing("h", 0, "x"));
  const int close = me.Ask("fs/close", Closing("h"));
  EXPECT_EQ(CodeOf(open), -32004);
  EXPECT_EQ(CodeOf(read), -32004);
  EXPECT_EQ(CodeOf(write), -32004);
  EXPECT_EQ(CodeOf(close), 0);
  EXPECT_EQ(Open("h", MakeFile("file")), 0);
}

TEST_F(FsHandleServiceTest, DoesNotLetALateFailureTouchTheNextHandleOfThatName) {
  Client& me = Me();
  const int failing = me.Ask("fs/open", Opening("h", Path("missing")));
  const int close = me.Ask("fs/close", Closing("h"));
  const int open = me.Ask("fs/open", Opening("h", MakeFile("file", "text")));
  EXPECT_EQ(CodeOf(failing), -32004);
  EXPECT_EQ(CodeOf(close), 0);
  EXPECT_EQ(CodeOf(open), 0);
  EXPECT_EQ(Block("h", 0, 4), "text");
}

TEST_F(FsHandleServiceTest, KeepsManyPipelinedWritesInOrder) {
  Client& me = Me();
  std::vector<int> ids = {me.Ask("fs/open", Opening("h", Path("new"), "replace"))};
  for (int i = 0; i < 100; ++i) ids.push_back(me.Ask("fs/writeBlock", Writing("h", 0, fmt::format("{:03}", i))));
  ids.push_back(me.Ask("fs/readFile", At(Path("new"))));
  for (const int id : ids) ASSERT_EQ(CodeOf(id), 0) << id;
  EXPECT_EQ(me.AnswerTo(ids.back())->Bytes("result.dataBase64"), "099");
}

}  // namespace
}  // namespace holdfast::exec_server
