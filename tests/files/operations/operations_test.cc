#include "files/operations/operations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>

#include "support/message.h"
#include "support/scratch_dir.h"

namespace holdfast::files {

bool operator==(const Claim& a, const Claim& b) { return a.path == b.path && a.access == b.access; }
void PrintTo(const Claim& claim, std::ostream* out) {
  *out << (claim.access == Access::kRead ? "read " : "write ") << claim.path;
}

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <typename Params>
Params At(std::string path) {
  Params params;
  params.path = std::move(path);
  return params;
}

wire::FsWriteFileParams Writing(std::string path, std::string_view base64) {
  auto params = At<wire::FsWriteFileParams>(std::move(path));
  params.data_base64 = base64;
  return params;
}

wire::FsCopyParams Copying(std::string source, std::string destination) {
  return {.source_path = std::move(source), .destination_path = std::move(destination), .recursive = true};
}

wire::FsRenameParams Renaming(std::string source, std::string destination) {
  return {.source_path = std::move(source), .destination_path = std::move(destination), .replace = {}};
}

wire::FsWalkParams Walking(std::string path, const wire::FsWalkOptions& options) {
  auto params = At<wire::FsWalkParams>(std::move(path));
  params.options = options;
  return params;
}

wire::FsWalkOptions WalkOptions(uint64_t depth, uint64_t directories, uint64_t entries) {
  return {.max_depth = depth, .max_directories = directories, .max_entries = entries, .prune_hidden_directories = {}};
}

template <typename T>
ErrorKind KindOf(const Result<T>& result) {
  return result ? ErrorKind::kUnknownMethod
                : result.error().kind;  // stands for success, because no operation fails with it
}

TEST(OperationsTest, SayWhatTheyTouch) {
  const Claim reads{"/a/b", Access::kRead}, writes{"/a/b", Access::kWrite};
  const std::string path = "file:///a/./x/../b/";
  EXPECT_THAT(PrepareWriteFile(Writing(path, "eA=="))->claims, ElementsAre(writes));
  EXPECT_THAT(PrepareCreateDirectory(At<wire::FsCreateDirectoryParams>(path))->claims, ElementsAre(writes));
  EXPECT_THAT(PrepareRemove(At<wire::FsRemoveParams>(path))->claims, ElementsAre(writes));
  EXPECT_THAT(PrepareGetMetadata(At<wire::FsFollowParams>(path))->claims, ElementsAre(reads));
  EXPECT_THAT(PrepareCanonicalize(At<wire::FsPathParams>(path))->claims, ElementsAre(reads));
  EXPECT_THAT(PrepareReadDirectory(At<wire::FsPathParams>(path))->claims, ElementsAre(reads));
  EXPECT_THAT(PrepareWalk(Walking(path, WalkOptions(1, 1, 1)))->claims, ElementsAre(reads));
  EXPECT_THAT(PrepareOpen(At<wire::FsOpenFileParams>(path))->claims, ElementsAre(reads));
  auto replacing = At<wire::FsOpenFileParams>(path);
  replacing.mode = wire::FsOpenMode::kReplace;
  EXPECT_THAT(PrepareOpen(replacing)->claims, ElementsAre(writes));
  EXPECT_THAT(PrepareCopy(Copying(path, "/c"))->claims, ElementsAre(reads, Claim{"/c", Access::kWrite}));
  EXPECT_THAT(PrepareRename(Renaming(path, "/c"))->claims, ElementsAre(writes, Claim{"/c", Access::kWrite}));
}

TEST(OperationsTest, RefusePathsThatAreNone) {
  for (const std::string path : {"", "relative", "http://host/x", "file:///a%00b"}) {
    EXPECT_FALSE(PrepareWriteFile(Writing(path, "eA=="))) << path;
    EXPECT_FALSE(PrepareCreateDirectory(At<wire::FsCreateDirectoryParams>(path))) << path;
    EXPECT_FALSE(PrepareRemove(At<wire::FsRemoveParams>(path))) << path;
    EXPECT_FALSE(PrepareGetMetadata(At<wire::FsFollowParams>(path))) << path;
    EXPECT_FALSE(PrepareCanonicalize(At<wire::FsPathParams>(path))) << path;
    EXPECT_FALSE(PrepareReadDirectory(At<wire::FsPathParams>(path))) << path;
    EXPECT_FALSE(PrepareWalk(Walking(path, WalkOptions(1, 1, 1)))) << path;
    EXPECT_FALSE(PrepareOpen(At<wire::FsOpenFileParams>(path))) << path;
    EXPECT_FALSE(PrepareCopy(Copying(path, "/c"))) << path;
    EXPECT_FALSE(PrepareCopy(Copying("/c", path))) << path;
    EXPECT_FALSE(PrepareRename(Renaming(path, "/c"))) << path;
    EXPECT_FALSE(PrepareRename(Renaming("/c", path))) << path;
  }
}

TEST(OperationsTest, AWriteIsOfStrictBase64) {
  for (const char* text : {"eA", "eA=", "e A=", "eA==\n", "-_-_"}) {
    const auto refused = PrepareWriteFile(Writing("/x", text));
    EXPECT_EQ(KindOf(refused), ErrorKind::kInvalidRequest) << text;
    EXPECT_THAT(refused.error().message, HasSubstr("dataBase64: ")) << text;
  }
}

TEST(OperationsTest, ADigestIsOfLowerCaseHex) {
  auto params = Writing("/x", "");
  for (const std::string& digest : {std::string(), std::string(63, 'a'), std::string(64, 'A'), std::string(65, 'a')}) {
    params.expected_sha256 = digest;
    EXPECT_EQ(KindOf(PrepareWriteFile(params)), ErrorKind::kInvalidParams) << digest;
  }
  params.expected_sha256 = std::string(64, 'a');
  EXPECT_TRUE(PrepareWriteFile(params));
}

TEST(OperationsTest, ATreeIsNotRemovedWithoutFollowingLinks) {
  auto params = At<wire::FsRemoveParams>("/x");
  params.follow_symlinks = false;
  EXPECT_EQ(KindOf(PrepareRemove(params)), ErrorKind::kSystem);
  params.recursive = false;
  EXPECT_TRUE(PrepareRemove(params));
}

TEST(OperationsTest, AWalkHasBounds) {
  EXPECT_TRUE(PrepareWalk(Walking("/x", WalkOptions(64, 10'000, 50'000))));
  EXPECT_TRUE(PrepareWalk(Walking("/x", WalkOptions(0, 1, 1))));
  for (const auto& options : {WalkOptions(65, 1, 1), WalkOptions(1, 10'001, 1), WalkOptions(1, 1, 50'001),
                              WalkOptions(1, 0, 1), WalkOptions(1, 1, 0)}) {
    EXPECT_EQ(KindOf(PrepareWalk(Walking("/x", options))), ErrorKind::kInvalidRequest);
  }
}

TEST(OperationsTest, APropertyIsSetOnlyOnAFileThatIsWritten) {
  auto params = At<wire::FsOpenFileParams>("/f");
  params.permissions = 0644;
  EXPECT_EQ(KindOf(PrepareOpen(params)), ErrorKind::kInvalidParams);
  params.mode = wire::FsOpenMode::kReplace;
  EXPECT_TRUE(PrepareOpen(params));
  for (const uint64_t special : {uint64_t{01000}, uint64_t{04755}, UINT64_MAX}) {
    params.permissions = special;
    EXPECT_EQ(KindOf(PrepareOpen(params)), ErrorKind::kInvalidParams) << special;
  }
  params.permissions.reset();
  params.size = 0;
  EXPECT_EQ(KindOf(PrepareOpen(params)), ErrorKind::kInvalidParams);
  params.mode = wire::FsOpenMode::kUpdate;
  EXPECT_TRUE(PrepareOpen(params));
  params.mode = wire::FsOpenMode::kRead;
  params.size.reset();
  params.modified_at_ms = 0;
  EXPECT_EQ(KindOf(PrepareOpen(params)), ErrorKind::kInvalidParams);
}

TEST(OperationsTest, PreparingTouchesNothing) {
  const support::ScratchDir dir;
  const std::string made = dir.path() + "/made";
  auto replacing = At<wire::FsOpenFileParams>(made);
  replacing.mode = wire::FsOpenMode::kReplace;
  EXPECT_TRUE(PrepareOpen(replacing) && PrepareWriteFile(Writing(made, "")) &&
              PrepareCreateDirectory(At<wire::FsCreateDirectoryParams>(made)));
  EXPECT_NE(::access(made.c_str(), F_OK), 0);
}

TEST(OperationsTest, RunLaterOnWhatTheyOwn) {
  const support::ScratchDir dir;
  const std::string file = dir.path() + "/file";
  auto write = [&] {
    std::string data = support::Base64("hello");
    const std::string message = data + "   ";
    return PrepareWriteFile(Writing(file, std::string_view(message).substr(0, data.size())));
  }();
  ASSERT_TRUE(write->run({}));
  std::ifstream content(file);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(content), {}), "hello");
  auto replacing = At<wire::FsOpenFileParams>(file);
  replacing.mode = wire::FsOpenMode::kReplace;
  const auto opened = PrepareOpen(replacing)->run({});
  ASSERT_TRUE(opened);
  struct stat status;
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_size, 0) << "replace empties the file at once";
}

}  // namespace
}  // namespace holdfast::files
