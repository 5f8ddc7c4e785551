#include "exec_server/files/fs_service.h"

#include <fcntl.h>

#include <filesystem>
#include <set>

#include "base/sha256.h"
#include "exec_server/files/fs_fixture.h"
#include "support/proc.h"

namespace holdfast::exec_server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string Pattern(size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 31 + (i >> 8) + (i >> 16));
  return bytes;
}

std::string DigestOf(std::string_view bytes) {
  Sha256 sha;
  sha.Update(files::Bytes(bytes));
  return sha.HexDigest();
}

class FsServiceTest : public FsFixture {
 protected:
  std::string Read(std::string_view path) { return Do("fs/readFile", At(path)).Bytes("result.dataBase64"); }

  int64_t Write(std::string_view path, std::string_view bytes, std::string_view more = "") {
    return CodeOf("fs/writeFile", At(path, Data(bytes) + std::string(more)));
  }

  // Compares the answer from the kernel's memory with the answer of a worker. While another request is busy with the
  // path, the server has a worker answer.
  void ExpectSameFromMemoryAndByAWorker(std::string_view method, const std::string& params) {
    (void)Do(method, params);  // so that the kernel has it in memory
    const int quick = Me().Ask(method, params);
    Me().Ask("fs/createDirectory", At("/"));
    const int slow = Me().Ask(method, params);
    EXPECT_FALSE(Me().AnswerTo(slow)) << params;
    ASSERT_TRUE(RunUntilAnswered(quick) && RunUntilAnswered(slow));
    const auto without_id = [&](int id) {
      std::string text = Me().AnswerTo(id)->text();
      const std::string member = fmt::format(R"("id":{})", id);
      return text.replace(text.find(member), member.size(), "");
    };
    EXPECT_EQ(without_id(quick), without_id(slow)) << method << " " << params;
    Me().Forget();
  }

  static std::string Expecting(std::string_view digest) { return fmt::format(R"(,"expectedSha256":"{}")", digest); }

  // Checks the errors that all fs/* methods have in common, such as those about missing files.
  void ExpectUsualErrors(std::string_view method, const std::string& more = "") {
    MakeFile("file");
    MakeLink("loop", "loop");
    EXPECT_EQ(CodeOf(method, At(Path("missing/parent"), more)), -32004);
    EXPECT_EQ(CodeOf(method, At(Path("file/below"), more)), -32603);
    EXPECT_EQ(CodeOf(method, At(Path(std::string(256, 'n')), more)), -32603);
    EXPECT_EQ(CodeOf(method, At(Path("loop/below"), more)), -32603);
  }
};

TEST_F(FsServiceTest, ReadsAFileByItsPathAndByItsUri) {
  const std::string path = MakeFile("with space", "text\n");
  for (const std::string& name : {path, FileUri(path), Path("./x/../with space/")}) EXPECT_EQ(Read(name), "text\n");
}

TEST_F(FsServiceTest, ReadsEveryByteOfFilesOfAnySize) {
  constexpr size_t kTiny = 32u << 10, kBlock = 192u << 10, kSmall = 1u << 20;
  for (const size_t size : {size_t{0}, size_t{1}, size_t{2}, size_t{3}, size_t{256}, kTiny, kTiny + 1, kBlock - 1,
                            kBlock, kBlock + 1, 2 * kBlock, kSmall, kSmall + 1, 3 * kSmall + 2}) {
    const std::string bytes = Pattern(size);
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(Read(MakeFile("file", bytes)) == bytes) << size;
  }
}

TEST_F(FsServiceTest, ReadsFilesThatDoNotKnowTheirSize) {
  EXPECT_EQ(Read("/proc/version"), files::ReadAll("/proc/version"));
}

TEST_F(FsServiceTest, ReadsFilesWhoseNamesAreNoText) {
  for (const char* name : {"new\nline", "\xff\xfe", "caf\xc3\xa9", "per%cent", "back\\slash", "?#"}) {
    const std::string path = MakeFile(name, name);
    EXPECT_EQ(Read(FileUri(path)), name);
  }
  EXPECT_EQ(Read(Path("new\nline")), "new\nline");  // the JSON has \n in it
}

TEST_F(FsServiceTest, ReadsNothingButRegularFiles) {
  ExpectUsualErrors("fs/readFile");
  EXPECT_EQ(CodeOf("fs/readFile", At(Path("missing"))), -32004);
  EXPECT_EQ(CodeOf("fs/readFile", At(MakeLink("dangling", "nowhere"))), -32004);
  EXPECT_EQ(CodeOf("fs/readFile", At(Path("loop"))), -32603);
  for (const std::string& path :
       {Path(), std::string("/"), MakeLink("link", "."), MakeFifo("fifo"), std::string("/dev/zero")}) {
    for (const char* more : {"", kNoFollow}) {
      if (path == Path("link") && *more != '\0') continue;
      EXPECT_EQ(CodeOf("fs/readFile", At(path, more)), -32600) << path << more;
    }
  }
}

TEST_F(FsServiceTest, ReadsThroughLinksUnlessToldOtherwise) {
  MakeFile("folder/file", "text");
  MakeLink("link", "folder/file");
  MakeLink("way", "folder");
  for (const char* follow : {R"("followSymlinks":true)", R"("followSymlinks":null)", ""}) {
    EXPECT_EQ(Do("fs/readFile", At(Path("link"), follow)).Bytes("result.dataBase64"), "text");
    EXPECT_EQ(Do("fs/readFile", At(Path("way/file"), follow)).Bytes("result.dataBase64"), "text");
  }
  EXPECT_EQ(Do("fs/readFile", At(Path("folder/file"), kNoFollow)).Bytes("result.dataBase64"), "text");
  EXPECT_EQ(CodeOf("fs/readFile", At(Path("link"), kNoFollow)), -32603);
  EXPECT_EQ(CodeOf("fs/readFile", At(Path("way/file"), kNoFollow)), -32603);
  EXPECT_EQ(CodeOf("fs/readFile", At(Path("missing"), kNoFollow)), -32004);
  EXPECT_EQ(CodeOf("fs/readFile", At(Path("link"), R"("followSymlinks":"no")")), -32602);
  EXPECT_EQ(CodeOf("fs/readFile", At(Path("link"), R"("followSymlinks":0)")), -32602);
}

TEST_F(FsServiceTest, ReadsNoFileThatIsLargerThanConfigured) {
  config_.max_read_file_bytes = 10;
  Boot();
  EXPECT_EQ(Read(MakeFile("fits", "0123456789")), "0123456789");
  EXPECT_EQ(CodeOf("fs/readFile", At(MakeFile("larger", "0123456789a"))), -32600);
  EXPECT_EQ(CodeOf("fs/readFile", At("/proc/version")), -32600);  // its size is zero, although it has content
  const std::string sparse = MakeFile("sparse");
  ASSERT_EQ(::truncate(sparse.c_str(), off_t{1} << 40), 0);
  EXPECT_EQ(CodeOf("fs/readFile", At(sparse)), -32600);
}

TEST_F(FsServiceTest, NamesTheFileInItsErrors) {
  EXPECT_THAT(Do("fs/readFile", At(Path("missing"))).Text("error.message"), HasSubstr(Path("missing")));
  // A byte that is not UTF-8 is replaced in the message.
  EXPECT_THAT(Do("fs/readFile", At(FileUri(Path("\xff")))).Text("error.message"), HasSubstr(Path("\xEF\xBF\xBD")));
}

TEST_F(FsServiceTest, WritesAFileAndKeepsWhatItIs) {
  EXPECT_EQ(Write(Path("new"), "text"), 0);
  EXPECT_EQ(files::ReadAll(Path("new")), "text");
  EXPECT_EQ(files::PermissionsOf(Path("new")), 0644u);

  MakeFile("old", "longer than what comes", 0755);
  ASSERT_EQ(::link(Path("old").c_str(), Path("other name").c_str()), 0);
  EXPECT_EQ(Write(FileUri(Path("old")), "short"), 0);
  EXPECT_EQ(files::ReadAll(Path("other name")), "short");
  EXPECT_EQ(files::PermissionsOf(Path("old")), 0755u);

  EXPECT_EQ(Write(Path("old"), ""), 0);
  EXPECT_EQ(files::ReadAll(Path("old")), "");
}

TEST_F(FsServiceTest, WritesEveryByte) {
  const std::string bytes = Pattern(3'000'001);
  for (const char* more : {"", R"(,"atomic":true)"}) {
    EXPECT_EQ(Write(FileUri(Path("\xff\n")), bytes, more), 0);
    EXPECT_TRUE(files::ReadAll(Path("\xff\n")) == bytes);
    ASSERT_EQ(::unlink(Path("\xff\n").c_str()), 0);
  }
}

TEST_F(FsServiceTest, WritesNothingThatIsNoBase64) {
  MakeFile("file", "kept");
  for (const char* data : {"!", "YQ", "YQ=", "YQ===", "Y Q==", "YQ==\\n", "YR==", "_-_-", "YQ==YQ=="}) {
    EXPECT_EQ(CodeOf("fs/writeFile", At(Path("file"), fmt::format(R"("dataBase64":"{}")", data))), -32600) << data;
  }
  for (const char* more : {"", R"("dataBase64":null)", R"("dataBase64":5)"}) {
    EXPECT_EQ(CodeOf("fs/writeFile", At(Path("file"), more)), -32602) << more;
  }
  EXPECT_EQ(files::ReadAll(Path("file")), "kept");
  EXPECT_EQ(CodeOf("fs/writeFile", At(Path("missing/file"), R"("dataBase64":"!")")), -32600);
}

TEST_F(FsServiceTest, WritesToNothingButRegularFiles) {
  MakeFifo("fifo");
  for (const char* atomic : {R"(,"atomic":false)", R"(,"atomic":null)", R"(,"atomic":true)"}) {
    EXPECT_EQ(Write(Path("fifo"), "x", atomic), -32600);
    EXPECT_EQ(Write("/dev/null", "x", atomic), -32600);
    EXPECT_EQ(Write(Path(), "x", atomic), -32603);
    EXPECT_EQ(Write("/", "x", atomic), -32603);
    EXPECT_EQ(Write(Path("missing/file"), "x", atomic), -32004);
    EXPECT_EQ(Write(Path("missing/file"), "", atomic), -32004);
  }
  ExpectUsualErrors("fs/writeFile", Data("x"));
  EXPECT_EQ(Write(Path("loop"), "x"), -32603);
  EXPECT_EQ(CodeOf("fs/writeFile", At(Path("file"), Data("x") + R"(,"atomic":"yes")")), -32602);
}

TEST_F(FsServiceTest, WritesThroughLinksUnlessToldOtherwise) {
  const std::string refuse = std::string(",") + kNoFollow;
  for (const std::string atomic : {"", R"(,"atomic":true)"}) {
    MakeFile("folder/file", "old");
    if (atomic.empty()) {
      MakeLink("link", "folder/file");
      MakeLink("way", "folder");
      MakeLink("dangling", "folder/made");
    }
    EXPECT_EQ(Write(Path("link"), "x", atomic + refuse), -32603);
    EXPECT_EQ(Write(Path("way/file"), "x", atomic + refuse), -32603);
    EXPECT_EQ(Write(Path("way/more"), "x", atomic + refuse), -32603);
    EXPECT_EQ(files::ReadAll(Path("folder/file")), "old");
    EXPECT_EQ(Write(Path("folder/file"), "direct", atomic + refuse), 0);
    EXPECT_EQ(files::ReadAll(Path("folder/file")), "direct");
    EXPECT_EQ(Write(Path("link"), "new", atomic), 0);
    EXPECT_EQ(files::ReadAll(Path("folder/file")), "new");
    EXPECT_EQ(Write(Path("dangling"), "made", atomic), 0);
    EXPECT_EQ(files::ReadAll(Path("folder/made")), "made");
    ASSERT_EQ(::unlink(Path("folder/made").c_str()), 0);
  }
  EXPECT_THAT(files::NamesIn(Path("folder")), ElementsAre("file"));
}

TEST_F(FsServiceTest, ReplacesAFileAtomicallyByAnother) {
  MakeFile("file", "old", 0640);
  ASSERT_EQ(::link(Path("file").c_str(), Path("other name").c_str()), 0);
  EXPECT_EQ(Write(Path("file"), "new", R"(,"atomic":true)"), 0);
  EXPECT_EQ(files::ReadAll(Path("file")), "new");
  EXPECT_EQ(files::ReadAll(Path("other name")), "old");
  EXPECT_EQ(files::PermissionsOf(Path("file")), 0640u);
  EXPECT_THAT(files::NamesIn(Path()), ElementsAre("file", "other name"));
}

TEST_F(FsServiceTest, WritesOnlyOverWhatWasExpected) {
  for (const std::string atomic : {"", R"(,"atomic":true)"}) {
    MakeFile("file", "known");
    EXPECT_EQ(Write(Path("file"), "new", atomic + Expecting(DigestOf("else"))), -32600);
    EXPECT_EQ(Write(Path("file"), "new", atomic + Expecting(DigestOf(""))), -32600);
    EXPECT_EQ(files::ReadAll(Path("file")), "known");
    EXPECT_EQ(Write(Path("file"), "new", atomic + Expecting(DigestOf("known"))), 0);
    EXPECT_EQ(files::ReadAll(Path("file")), "new");
    // The code is not -32004, because that would tell the client to make the missing directories.
    EXPECT_EQ(Write(Path("missing"), "new", atomic + Expecting(DigestOf(""))), -32600);
    EXPECT_EQ(Write(Path("missing/file"), "new", atomic + Expecting(DigestOf(""))), -32600);
  }
  EXPECT_THAT(files::NamesIn(Path()), ElementsAre("file"));
}

TEST_F(FsServiceTest, RefusesADigestThatNoFileHas) {
  MakeFile("file", "");
  const std::string digest = DigestOf("");
  std::string upper = digest;
  upper[0] = 'E';
  ASSERT_EQ(digest[0], 'e');
  for (const std::string& wrong : {std::string(), digest.substr(1), digest + "0", upper, "g" + digest.substr(1)}) {
    EXPECT_EQ(Write(Path("file"), "new", Expecting(wrong)), -32602) << wrong;
  }
  EXPECT_EQ(Write(Path("file"), "new", R"(,"expectedSha256":5)"), -32602);
  EXPECT_EQ(files::ReadAll(Path("file")), "");
  EXPECT_EQ(Write(Path("file"), "new", R"(,"expectedSha256":null)"), 0);
}

TEST_F(FsServiceTest, MakesDirectories) {
  EXPECT_EQ(CodeOf("fs/createDirectory", At(Path("a/b/c"))), 0);
  EXPECT_EQ(files::PermissionsOf(Path("a/b/c")), 0755u);
  for (const char* recursive : {"", R"("recursive":true)", R"("recursive":null)"}) {
    EXPECT_EQ(CodeOf("fs/createDirectory", At(FileUri(Path("a/b")), recursive)), 0);
  }
  EXPECT_EQ(CodeOf("fs/createDirectory", At(Path("a"), R"("recursive":false)")), -32603);
  EXPECT_EQ(CodeOf("fs/createDirectory", At(Path("x/y"), R"("recursive":false)")), -32004);
  EXPECT_EQ(CodeOf("fs/createDirectory", At(Path("x"), R"("recursive":false)")), 0);
  EXPECT_EQ(CodeOf("fs/createDirectory", At(FileUri(Path("\xff\n")))), 0);
  EXPECT_THAT(files::NamesIn(Path()), ElementsAre("a", "x", "\xff\n"));
  EXPECT_EQ(CodeOf("fs/createDirectory", At("/")), 0);
}

TEST_F(FsServiceTest, MakesNoDirectoryWhereSomethingElseIs) {
  MakeFile("file");
  MakeLink("dangling", "nowhere");
  MakeLink("link", ".");
  for (const char* recursive : {R"("recursive":true)", R"("recursive":false)"}) {
    for (const char* name : {"file", "dangling", "file/below"}) {
      EXPECT_EQ(CodeOf("fs/createDirectory", At(Path(name), recursive)), -32603) << name << recursive;
    }
  }
  EXPECT_EQ(CodeOf("fs/createDirectory", At(Path("link"))), 0);
  EXPECT_EQ(CodeOf("fs/createDirectory", At(Path("link"), kNoFollow)), -32603);
  EXPECT_EQ(CodeOf("fs/createDirectory", At(Path("link/below"), kNoFollow)), -32603);
  EXPECT_EQ(CodeOf("fs/createDirectory", At(Path("a/b"), kNoFollow)), 0);
  EXPECT_EQ(CodeOf("fs/createDirectory", At(Path("a"), R"("recursive":1)")), -32602);
  EXPECT_THAT(files::NamesIn(Path()), ElementsAre("a", "dangling", "file", "link"));
}

TEST_F(FsServiceTest, DescribesWhatAPathIs) {
  const std::string file = MakeFile("file", "12345");
  timespec times[2] = {{.tv_sec = 1, .tv_nsec = 0}, {.tv_sec = 1'700'000'000, .tv_nsec = 123'999'999}};
  ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
  const Message answer = Do("fs/getMetadata", At(FileUri(file)));
  EXPECT_TRUE(answer.Flag("result.isFile"));
  EXPECT_FALSE(answer.Flag("result.isDirectory"));
  EXPECT_FALSE(answer.Flag("result.isSymlink"));
  EXPECT_EQ(answer.Number("result.size"), 5);
  EXPECT_EQ(answer.Number("result.modifiedAtMs"), 1'700'000'000'123);
  EXPECT_GE(answer.Number("result.createdAtMs"), 0);

  MakeLink("link", ".");
  const Message link = Do("fs/getMetadata", At(Path("link")));
  EXPECT_TRUE(link.Flag("result.isSymlink") && link.Flag("result.isDirectory"));
  const Message fifo = Do("fs/getMetadata", At(MakeFifo("fifo")));
  EXPECT_FALSE(fifo.Flag("result.isFile") || fifo.Flag("result.isDirectory") || fifo.Flag("result.isSymlink"));
}

TEST_F(FsServiceTest, DescribesNothingWhereNothingIs) {
  ExpectUsualErrors("fs/getMetadata");
  EXPECT_EQ(CodeOf("fs/getMetadata", At(Path("missing"))), -32004);
  EXPECT_EQ(CodeOf("fs/getMetadata", At(MakeLink("dangling", "nowhere"))), -32004);
  EXPECT_EQ(CodeOf("fs/getMetadata", At(Path("dangling"), kNoFollow)), -32600);
  EXPECT_EQ(CodeOf("fs/getMetadata", At(Path("loop"))), -32603);
}

TEST_F(FsServiceTest, AnswersTheSameFromMemoryAndByAWorker) {
  MakeFile("file", "12345");
  MakeFile("empty");
  MakeFile("closed", "secret", 0);
  MakeLink("link", "file");
  MakeLink("to_directory", ".");
  MakeLink("dangling", "nowhere");
  MakeLink("loop", "loop");
  MakeFifo("fifo");
  for (const std::string& path :
       {Path(), Path("file"), Path("empty"), Path("closed"), Path("link"), Path("to_directory"),
        Path("to_directory/file"), Path("dangling"), Path("loop"), Path("fifo"), Path("missing"), Path("file/below"),
        Path(std::string(256, 'n')), std::string("/"), std::string("/proc/self/exe"), std::string("/proc/version"),
        std::string("/dev/null")}) {
    for (const char* more : {"", kNoFollow}) {
      ExpectSameFromMemoryAndByAWorker("fs/getMetadata", At(path, more));
      if (path != "/proc/self/exe") ExpectSameFromMemoryAndByAWorker("fs/readFile", At(path, more));
    }
  }
}

TEST_F(FsServiceTest, DescribesWhatTheKernelRemembersAtOnce) {
  MakeFile("file");
  (void)Do("fs/getMetadata", At(Path("file")));
  (void)Do("fs/getMetadata", At(Path("missing")));
  EXPECT_TRUE(Me().AnswerTo(Me().Ask("fs/getMetadata", At(Path("file")))));
  EXPECT_TRUE(Me().AnswerTo(Me().Ask("fs/getMetadata", At(Path("missing")))));
}

TEST_F(FsServiceTest, ResolvesLinksToAUri) {
  const std::string real = *ParsePath(std::filesystem::canonical(Path()).string());
  MakeFile("folder/with space\xff\n");
  MakeLink("link", "folder/with space\xff\n");
  MakeLink("way", Path("folder"));
  for (const std::string& path : {FileUri(Path("folder/with space\xff\n")), Path("link"), Path("way/../link")}) {
    EXPECT_EQ(Do("fs/canonicalize", At(path)).Text("result.path"), FileUri(real) + "/folder/with%20space%FF%0A");
  }
  EXPECT_EQ(Do("fs/canonicalize", At("file:///")).Text("result.path"), "file:///");
  ExpectUsualErrors("fs/canonicalize");
  EXPECT_EQ(CodeOf("fs/canonicalize", At(Path("missing"))), -32004);
  EXPECT_EQ(CodeOf("fs/canonicalize", At(MakeLink("dangling", "nowhere"))), -32004);
  EXPECT_EQ(CodeOf("fs/canonicalize", At(Path("loop"))), -32603);
}

struct Listed {
  std::string name;
  bool is_directory, is_file;

  friend auto operator<=>(const Listed&, const Listed&) = default;
};

std::set<Listed> EntriesOf(const Message& answer) {
  std::set<Listed> entries;
  for (size_t i = 0; i < answer.Size("result.entries"); ++i) {
    const std::string at = fmt::format("result.entries.{}.", i);
    entries.insert({answer.Text(at + "fileName"), answer.Flag(at + "isDirectory"), answer.Flag(at + "isFile")});
  }
  return entries;
}

TEST_F(FsServiceTest, ListsADirectory) {
  MakeFile(".hidden");
  MakeFile("new\nline");
  MakeFile("no\xfftext");
  MakeDirectory("folder");
  MakeFifo("fifo");
  MakeLink("to_directory", "folder");
  MakeLink("to_file", ".hidden");
  MakeLink("dangling", "nowhere");
  MakeLink("loop", "loop");
  MakeLink("self", Path());
  const std::set<Listed> expected = {
      {".hidden", false, true}, {"new\nline", false, true}, {"no\xEF\xBF\xBDtext", false, true},
      {"folder", true, false},  {"fifo", false, false},     {"to_directory", true, false},
      {"to_file", false, true}, {"self", true, false}};
  for (const std::string& path : {Path(), FileUri(Path()), Path("self"), Path("folder/..")}) {
    const Message answer = Do("fs/readDirectory", At(path));
    EXPECT_EQ(EntriesOf(answer), expected) << answer;
  }
  EXPECT_EQ(Do("fs/readDirectory", At(Path("folder"))).Size("result.entries"), 0u);
}

TEST_F(FsServiceTest, ListsNothingButDirectories) {
  ExpectUsualErrors("fs/readDirectory");
  EXPECT_EQ(CodeOf("fs/readDirectory", At(Path("missing"))), -32004);
  for (const std::string& path : {Path("file"), MakeFifo("fifo"), MakeLink("link", "file"), Path("loop")}) {
    EXPECT_EQ(CodeOf("fs/readDirectory", At(path)), -32603) << path;
  }
}

TEST_F(FsServiceTest, ListsUpTo50000Entries) {
  char template_path[] = "/dev/shm/holdfast_test.XXXXXX";
  ASSERT_NE(::mkdtemp(template_path), nullptr);
  const std::string path = template_path;
  for (int i = 0; i < 50'000; ++i) ASSERT_EQ(::mknod(fmt::format("{}/{}", path, i).c_str(), S_IFREG | 0600, 0), 0);
  EXPECT_EQ(Do("fs/readDirectory", At(path)).Size("result.entries"), 50'000u);
  ASSERT_EQ(::mknod((path + "/more").c_str(), S_IFREG | 0600, 0), 0);
  EXPECT_EQ(CodeOf("fs/readDirectory", At(path)), -32603);
  EXPECT_EQ(CodeOf("fs/remove", At(path)), 0);
  EXPECT_NE(::access(path.c_str(), F_OK), 0);
}

TEST_F(FsServiceTest, RefusesParamsWithoutWhatTheyNeed) {
  for (const char* method :
       {"fs/readFile", "fs/createDirectory", "fs/getMetadata", "fs/canonicalize", "fs/readDirectory", "fs/remove"}) {
    for (const char* params : {"{}", "null", "[]", "5", R"("/")", R"({"path":null})", R"({"Path":"/"})"}) {
      EXPECT_EQ(CodeOf(method, params), -32602) << method << params;
    }
  }
}

TEST_F(FsServiceTest, LeaksNoDescriptor) {
  MakeFile("file", "text");
  const std::string digest = Expecting(DigestOf("text"));
  const auto touch_everything = [&] {
    for (const char* more : {"", kNoFollow}) {
      for (const std::string& path : {Path("file"), Path(), Path("missing"), Path("file/below")}) {
        (void)Do("fs/readFile", At(path, more));
        (void)Do("fs/getMetadata", At(path, more));
        (void)Do("fs/readDirectory", At(path, more));
        (void)Do("fs/canonicalize", At(path, more));
        (void)Write(path, "text", R"(,"atomic":true)" + digest);
        (void)Write(path, "text", digest);
      }
    }
  };
  touch_everything();
  const size_t before = support::CountFds(::getpid());
  touch_everything();
  EXPECT_EQ(support::CountFds(::getpid()), before);
}

}  // namespace
}  // namespace holdfast::exec_server
