// Tests of the methods of FsService that work on trees, or on two paths.
#include <filesystem>

#include "exec_server/files/fs_fixture.h"
#include "exec_server/files/fs_service.h"

namespace holdfast::exec_server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kSingle[] = R"("recursive":false)";
constexpr char kTree[] = R"("recursive":true)";

struct WalkLimits {
  uint64_t depth = 10, directories = 100, entries = 1000;
  bool follow = false;
  std::string more = {};  // further members
};

class FsServiceTreeTest : public FsFixture {
 protected:
  Message Walk(const std::string& path, const WalkLimits& limits) {
    return Do("fs/walk",
              At(path, fmt::format(R"("options":{{"maxDepth":{},"maxDirectories":{},"maxEntries":{},)"
                                   R"("followDirectorySymlinks":{}{}}})",
                                   limits.depth, limits.directories, limits.entries, limits.follow, limits.more)));
  }

  // Returns the URIs relative to the test's directory; those of directories end with a slash.
  std::vector<std::string> EntriesOf(const Message& answer) {
    const std::string root = FileUri(Path()) + "/";
    std::vector<std::string> entries;
    for (size_t i = 0; i < answer.Size("result.entries"); ++i) {
      const std::string at = fmt::format("result.entries.{}.", i);
      const std::string kind = answer.Text(at + "kind"), uri = answer.Text(at + "path");
      EXPECT_TRUE(kind == "directory" || kind == "file") << kind;
      EXPECT_TRUE(uri.starts_with(root)) << uri;
      entries.push_back(uri.substr(root.size()) + (kind == "directory" ? "/" : ""));
    }
    return entries;
  }

  std::vector<std::string> Walked(const WalkLimits& limits, bool truncated = false) {
    const Message answer = Walk(Path(), limits);
    EXPECT_EQ(answer.Flag("result.truncated"), truncated) << answer;
    EXPECT_EQ(answer.Size("result.errors"), 0u) << answer;
    return EntriesOf(answer);
  }

  void MakeTree() {
    MakeFile("tree/file", "text", 0755);
    MakeFile("tree/inner/deep", "deep");
    MakeLink("tree/link", "file");
    MakeFifo("tree/fifo");
  }
};

TEST_F(FsServiceTreeTest, RemovesWhateverIsThere) {
  MakeTree();
  MakeFile("kept/file");
  MakeFile("file");
  MakeLink("link", "kept");
  MakeLink("dangling", "nowhere");
  MakeFifo("fifo");
  MakeFile("\xff\n");
  for (const char* name : {"tree", "file", "link", "dangling", "fifo"}) {
    EXPECT_EQ(CodeOf("fs/remove", At(Path(name))), 0) << name;
  }
  EXPECT_EQ(CodeOf("fs/remove", At(FileUri(Path("\xff\n")))), 0);
  EXPECT_THAT(files::NamesIn(Path()), ElementsAre("kept"));
  EXPECT_THAT(files::NamesIn(Path("kept")), ElementsAre("file"));
  EXPECT_EQ(CodeOf("fs/remove", At("/")), -32600);
}

TEST_F(FsServiceTreeTest, RemovesTreesUnlessToldOtherwise) {
  for (const char* recursive : {"", kTree, R"("recursive":null)"}) {
    MakeTree();
    EXPECT_EQ(CodeOf("fs/remove", At(Path("tree"), recursive)), 0);
    EXPECT_THAT(files::NamesIn(Path()), IsEmpty());
  }
  MakeTree();
  EXPECT_EQ(CodeOf("fs/remove", At(Path("tree"), kSingle)), -32603);
  EXPECT_EQ(CodeOf("fs/remove", At(Path("tree/inner/deep"), kSingle)), 0);
  EXPECT_EQ(CodeOf("fs/remove", At(Path("tree/inner"), kSingle)), 0);
  EXPECT_THAT(files::NamesIn(Path("tree")), ElementsAre("fifo", "file", "link"));
  EXPECT_EQ(CodeOf("fs/remove", At(Path("tree"), R"("recursive":"x")")), -32602);
}

TEST_F(FsServiceTreeTest, MindsAbsenceOnlyWhenTold) {
  MakeFile("file");
  for (const char* force : {"", R"("force":true)", R"("force":null)"}) {
    EXPECT_EQ(CodeOf("fs/remove", At(Path("missing"), force)), 0);
    EXPECT_EQ(CodeOf("fs/remove", At(Path("missing/below"), force)), 0);
    EXPECT_EQ(CodeOf("fs/remove", At(Path("file/below"), force)), -32603);
  }
  EXPECT_EQ(CodeOf("fs/remove", At(Path("missing"), R"("force":false)")), -32004);
  EXPECT_EQ(CodeOf("fs/remove", At(Path("missing/below"), R"("force":false)")), -32004);
  EXPECT_EQ(CodeOf("fs/remove", At(Path("file/below"), R"("force":false)")), -32603);
  EXPECT_EQ(CodeOf("fs/remove", At(Path("file"), R"("force":0)")), -32602);
}

TEST_F(FsServiceTreeTest, RemovesWithoutLinksOnTheWayOneAtATime) {
  MakeFile("folder/file");
  MakeFile("folder/other");
  MakeLink("way", "folder");
  const std::string single = fmt::format("{},{}", kNoFollow, kSingle);
  for (const char* more : {"", R"(,"recursive":true)", R"(,"recursive":null)"}) {
    for (const char* name : {"folder", "folder/file", "missing"}) {
      EXPECT_EQ(CodeOf("fs/remove", At(Path(name), std::string(kNoFollow) + more)), -32603) << name << more;
    }
  }
  EXPECT_EQ(CodeOf("fs/remove", At(Path("way/file"), single)), -32603);
  EXPECT_EQ(CodeOf("fs/remove", At(Path("folder"), single)), -32603);
  EXPECT_EQ(CodeOf("fs/remove", At(Path("missing"), single)), 0);
  EXPECT_EQ(CodeOf("fs/remove", At(Path("missing"), single + R"(,"force":false)")), -32004);
  EXPECT_THAT(files::NamesIn(Path("folder")), ElementsAre("file", "other"));
  EXPECT_EQ(CodeOf("fs/remove", At(Path("folder/file"), single)), 0);
  EXPECT_EQ(CodeOf("fs/remove", At(Path("way/other"), kSingle)), 0);
  EXPECT_THAT(files::NamesIn(Path("folder")), IsEmpty());
}

TEST_F(FsServiceTreeTest, CopiesFilesLinksAndTrees) {
  MakeTree();
  EXPECT_EQ(CodeOf("fs/copy", FromTo(Path("tree/file"), Path("file"), kSingle)), 0);
  EXPECT_EQ(files::ReadAll(Path("file")), "text");
  EXPECT_EQ(files::PermissionsOf(Path("file")), 0755u);

  EXPECT_EQ(CodeOf("fs/copy", FromTo(Path("tree/link"), FileUri(Path("\xff")), kSingle)), 0);
  EXPECT_EQ(std::filesystem::read_symlink(Path("\xff")), "file");

  EXPECT_EQ(CodeOf("fs/copy", FromTo(FileUri(Path("tree")), Path("made/copy"), kTree)), 0);
  EXPECT_THAT(files::NamesIn(Path("made/copy")), ElementsAre("file", "inner", "link"));
  EXPECT_EQ(files::ReadAll(Path("made/copy/inner/deep")), "deep");

  MakeFile("made/copy/inner/own", "stays");
  MakeFile("made/copy/file", "goes");
  ASSERT_EQ(::unlink(Path("made/copy/link").c_str()), 0);
  EXPECT_EQ(CodeOf("fs/copy", FromTo(Path("tree"), Path("made/copy"), kTree)), 0);
  EXPECT_EQ(files::ReadAll(Path("made/copy/file")), "text");
  EXPECT_EQ(files::ReadAll(Path("made/copy/inner/own")), "stays");
}

TEST_F(FsServiceTreeTest, RefusesToCopyWhatCannotBeCopied) {
  MakeTree();
  MakeFile("file", "kept");
  MakeLink("link", "file");
  struct Refusal {
    const char *from, *to, *recursive;
    int code;
  };
  constexpr Refusal kRefusals[] = {
      {"tree", "new", kSingle, -32600},          {"tree", "tree", kTree, -32600},
      {"tree", "tree/inner/new", kTree, -32600}, {"tree", "file", kTree, -32603},
      {"tree/fifo", "new", kSingle, -32600},     {"tree/link", "link", kSingle, -32603},
      {"file", "tree", kSingle, -32603},         {"missing", "new", kTree, -32004},
      {"file", "missing/new", kTree, -32004},    {"file/below", "new", kTree, -32603},
      {"file", "file/below", kTree, -32603},
  };
  for (const auto& [from, to, recursive, code] : kRefusals) {
    EXPECT_EQ(CodeOf("fs/copy", FromTo(Path(from), Path(to), recursive)), code) << from << " " << to;
  }
  EXPECT_NE(CodeOf("fs/copy", FromTo(Path("file"), Path("tree/fifo"), kSingle)),
            0);  // fails at once, and does not wait for a reader
  EXPECT_EQ(files::ReadAll(Path("file")), "kept");
  EXPECT_THAT(files::NamesIn(Path()), ElementsAre("file", "link", "tree"));
  for (const char* recursive : {"", R"("recursive":null)", R"("recursive":"x")"}) {
    EXPECT_EQ(CodeOf("fs/copy", FromTo(Path("file"), Path("new"), recursive)), -32602) << recursive;
  }
}

TEST_F(FsServiceTreeTest, LosesNothingWhenAFileIsCopiedToItself) {
  MakeFile("file", "text");
  MakeLink("link", "file");
  ASSERT_EQ(::link(Path("file").c_str(), Path("other name").c_str()), 0);
  for (const char* to : {"file", "link", "other name"}) {
    (void)Do("fs/copy", FromTo(Path("file"), Path(to), kSingle));
    EXPECT_EQ(files::ReadAll(Path("file")), "text") << to;
  }
}

TEST_F(FsServiceTreeTest, RenamesFilesDirectoriesAndLinks) {
  MakeTree();
  MakeFile("old", "old");
  MakeLink("link", "nowhere");
  EXPECT_EQ(CodeOf("fs/rename", FromTo(Path("tree"), Path("moved"))), 0);
  EXPECT_EQ(CodeOf("fs/rename", FromTo(Path("moved/file"), FileUri(Path("\xff\n")))), 0);
  EXPECT_EQ(CodeOf("fs/rename", FromTo(FileUri(Path("\xff\n")), Path("old"), R"("replace":true)")), 0);
  EXPECT_EQ(files::ReadAll(Path("old")), "text");
  EXPECT_EQ(CodeOf("fs/rename", FromTo(Path("link"), Path("old"), R"("replace":null)")), 0);
  EXPECT_EQ(std::filesystem::read_symlink(Path("old")), "nowhere");
  EXPECT_THAT(files::NamesIn(Path()), ElementsAre("moved", "old"));
}

TEST_F(FsServiceTreeTest, RenamesOverNothingWhenToldToKeepIt) {
  MakeFile("a", "a");
  MakeFile("b", "b");
  MakeLink("dangling", "nowhere");
  MakeDirectory("folder");
  for (const char* to : {"b", "dangling", "folder"}) {
    EXPECT_EQ(CodeOf("fs/rename", FromTo(Path("a"), Path(to), R"("replace":false)")), -32603) << to;
  }
  EXPECT_EQ(files::ReadAll(Path("b")), "b");
  EXPECT_EQ(CodeOf("fs/rename", FromTo(Path("a"), Path("c"), R"("replace":false)")), 0);
  EXPECT_EQ(files::ReadAll(Path("c")), "a");
  EXPECT_EQ(CodeOf("fs/rename", FromTo(Path("c"), Path("d"), R"("replace":"no")")), -32602);
}

TEST_F(FsServiceTreeTest, RefusesToRenameWhatCannotBeMoved) {
  MakeTree();
  MakeFile("file");
  MakeFile("full/file");
  struct Refusal {
    const char *from, *to;
    int code;
  };
  constexpr Refusal kRefusals[] = {
      {"missing", "new", -32004}, {"file", "missing/new", -32004}, {"file/below", "new", -32603},
      {"file", "tree", -32603},   {"tree", "file", -32603},        {"tree", "full", -32603},
      {"tree", "tree/x", -32600},
  };
  for (const auto& [from, to, code] : kRefusals) {
    EXPECT_EQ(CodeOf("fs/rename", FromTo(Path(from), Path(to))), code) << from << " " << to;
  }
  const Message elsewhere = Do("fs/rename", FromTo(Path("file"), "/dev/shm/holdfast_test_renamed"));
  EXPECT_EQ(elsewhere.error_code(), -32603);
  EXPECT_THAT(elsewhere.Text("error.message"), HasSubstr("one file system"));
  EXPECT_EQ(CodeOf("fs/rename", R"({"sourcePath":"/x"})"), -32602);
  EXPECT_EQ(CodeOf("fs/rename", R"({"destinationPath":"/x"})"), -32602);
}

TEST_F(FsServiceTreeTest, WalksBreadthFirstSortedByName) {
  MakeFile("b/z");
  MakeFile("b/y/x");
  MakeFile("a/w");
  MakeFile(".h/v");
  MakeFile("Z");
  MakeFile("no\xfftext\n");
  MakeFifo("fifo");
  MakeLink("link", "Z");
  MakeLink("dangling", "nowhere");
  MakeLink("to_directory", "b");
  const std::vector<std::string> all = {".h/", "Z", "a/", "b/", "no%FFtext%0A", ".h/v", "a/w", "b/y/", "b/z", "b/y/x"};
  EXPECT_EQ(Walked({}), all);
  const Message by_uri = Walk(FileUri(Path()), {});
  EXPECT_EQ(EntriesOf(by_uri), all);
  EXPECT_THAT(Walked({.depth = 0}), ElementsAre(".h/", "Z", "a/", "b/", "no%FFtext%0A"));
  EXPECT_THAT(Walked({.depth = 1, .more = R"(,"pruneHiddenDirectories":true)"}),
              ElementsAre(".h/", "Z", "a/", "b/", "no%FFtext%0A", "a/w", "b/y/", "b/z"));
  EXPECT_EQ(Walked({.more = R"(,"pruneHiddenDirectories":false,"unknown":1)"}), all);
}

TEST_F(FsServiceTreeTest, WalksFromARootWhoseNameIsNoText) {
  MakeFile("\xff/\xfe/in");
  EXPECT_THAT(EntriesOf(Walk(FileUri(Path("\xff")), {})), ElementsAre("%FF/%FE/", "%FF/%FE/in"));
}

TEST_F(FsServiceTreeTest, WalksThroughLinksOnlyWhenTold) {
  MakeFile("folder/file");
  MakeLink("folder/up", "..");
  MakeLink("link", "folder");
  EXPECT_THAT(Walked({}), ElementsAre("folder/", "folder/file"));
  EXPECT_THAT(Walked({.follow = true}), ElementsAre("folder/", "link/", "folder/file", "folder/up/"));
  EXPECT_THAT(EntriesOf(Walk(Path("link"), {})), IsEmpty());
  EXPECT_THAT(EntriesOf(Walk(Path("link"), {.depth = 0, .follow = true})), ElementsAre("link/file", "link/up/"));
}

TEST_F(FsServiceTreeTest, SaysWhenALimitCutsTheWalkShort) {
  for (const char* name : {"a/1", "b/2", "c"}) MakeFile(name);
  EXPECT_THAT(Walked({.entries = 5}), ElementsAre("a/", "b/", "c", "a/1", "b/2"));
  EXPECT_THAT(Walked({.entries = 4}, true), ElementsAre("a/", "b/", "c", "a/1"));
  EXPECT_THAT(Walked({.entries = 1}, true), ElementsAre("a/"));
  EXPECT_THAT(Walked({.directories = 3}), ElementsAre("a/", "b/", "c", "a/1", "b/2"));
  EXPECT_THAT(Walked({.directories = 2}, true), ElementsAre("a/", "b/", "c", "a/1"));
  EXPECT_THAT(Walked({.depth = 0, .directories = 1}), ElementsAre("a/", "b/", "c"));
}

TEST_F(FsServiceTreeTest, RefusesLimitsThatAreTooHighOrLetNothingThrough) {
  for (const WalkLimits& limits :
       {WalkLimits{.depth = 65}, WalkLimits{.directories = 10'001}, WalkLimits{.entries = 50'001},
        WalkLimits{.directories = 0}, WalkLimits{.entries = 0}, WalkLimits{.depth = UINT64_MAX}}) {
    EXPECT_EQ(Walk(Path(), limits).error_code(), -32600);
  }
  EXPECT_EQ(Walk(Path(), {.depth = 64, .directories = 10'000, .entries = 50'000}).error_code(), 0);
  for (const char* more : {"", R"("options":null)", R"("options":{})", R"("options":[])",
                           R"("options":{"maxDepth":1,"maxDirectories":1,"maxEntries":1})",
                           R"("options":{"maxDepth":-1,"maxDirectories":1,"maxEntries":1,
                              "followDirectorySymlinks":false})",
                           R"("options":{"maxDepth":1.5,"maxDirectories":1,"maxEntries":1,
                              "followDirectorySymlinks":false})",
                           R"("options":{"maxDepth":1,"maxDirectories":1,"maxEntries":1,
                              "followDirectorySymlinks":null})"}) {
    EXPECT_EQ(CodeOf("fs/walk", At(Path(), more)), -32602) << more;
  }
}

TEST_F(FsServiceTreeTest, WalksNothingButDirectories) {
  MakeFile("file");
  MakeLink("link", "file");
  MakeLink("loop", "loop");
  for (const char* name : {"file", "link"}) {
    EXPECT_THAT(EntriesOf(Walk(Path(name), {})), IsEmpty()) << name;
    EXPECT_THAT(EntriesOf(Walk(Path(name), {.follow = true})), IsEmpty()) << name;
  }
  EXPECT_EQ(Walk(Path("missing"), {}).error_code(), -32004);
  EXPECT_EQ(Walk(MakeLink("dangling", "nowhere"), {}).error_code(), -32004);
  EXPECT_EQ(Walk(Path("file/below"), {}).error_code(), -32603);
  EXPECT_EQ(Walk(Path("loop"), {}).error_code(), -32603);
}

TEST_F(FsServiceTreeTest, NamesTheDirectoriesItCouldNotList) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may list everything";
  MakeFile("closed/file");
  MakeFile("open/file");
  ASSERT_EQ(::chmod(Path("closed").c_str(), 0), 0);
  const Message answer = Walk(Path(), {});
  EXPECT_THAT(EntriesOf(answer), ElementsAre("closed/", "open/", "open/file"));
  EXPECT_EQ(answer.Size("result.errors"), 1u);
  EXPECT_EQ(answer.Text("result.errors.0.path"), FileUri(Path("closed")));
  EXPECT_THAT(answer.Text("result.errors.0.message"), HasSubstr("Permission denied"));
  ASSERT_EQ(::chmod(Path("closed").c_str(), 0755), 0);
}

}  // namespace
}  // namespace holdfast::exec_server
