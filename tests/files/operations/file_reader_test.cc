#include "files/operations/file_reader.h"

#include <unistd.h>

#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/base64.h"
#include "support/message.h"
#include "support/scratch_dir.h"

namespace holdfast::files {
namespace {

constexpr size_t kMiB = 1u << 20;
constexpr std::string_view kHead = R"({"id":1,"result":)";

class FileReaderTest : public testing::Test {
 protected:
  void Write(size_t bytes) const { std::ofstream(path_, std::ios::binary) << std::string(bytes, 'x'); }

  File Open() const { return *File::OpenForReading(path_, Symlinks::kFollow); }
  // Opens the file, and makes it grow or shrink before anything is read.
  File OpenThenResize(size_t bytes) const {
    File file = Open();
    EXPECT_EQ(::truncate(path_.c_str(), static_cast<off_t>(bytes)), 0);
    return file;
  }

  // Reads the whole file, and gives the reader the memory that it asks for. Checks that the reader never uses more than
  // it may.
  Result<std::string> ReadAll(const File& file, FileReader reader, size_t allowed,
                              std::vector<size_t>* asked = nullptr) {
    std::string json(kHead);
    for (;;) {
      TRY(const size_t needed, reader(file, json, allowed));
      EXPECT_LE(json.capacity(), allowed);
      if (needed == 0) return json + "}";
      EXPECT_GT(needed, allowed);
      if (asked != nullptr) asked->push_back(needed);
      allowed = needed;
    }
  }

  support::ScratchDir dir_;
  const std::string path_ = dir_.path() + "/file";
};

std::string Content(const Result<std::string>& json) {
  return json ? support::Message(*json).Bytes("result.dataBase64") : json.error().message;
}

TEST_F(FileReaderTest, AsksForNothingWhenTheAnswerFits) {
  Write(100'000);
  std::vector<size_t> asked;
  EXPECT_EQ(Content(ReadAll(Open(), FileReader(kMiB), 200'000, &asked)), std::string(100'000, 'x'));
  EXPECT_THAT(asked, testing::IsEmpty());
}

TEST_F(FileReaderTest, AsksOnceForWhatTheFileSaysItHas) {
  Write(3 * kMiB);
  std::vector<size_t> asked;
  EXPECT_EQ(Content(ReadAll(Open(), FileReader(10 * kMiB), kMiB, &asked)).size(), 3 * kMiB);
  EXPECT_THAT(asked, testing::SizeIs(1));
  EXPECT_LT(asked.at(0), Base64EncodedSize(3 * kMiB) + 1000);
}

// If the reader did not ask again, a small file that grows between its open and its read would not be counted in the
// budget; twelve of them can take 1.4 GiB.
TEST_F(FileReaderTest, AsksAgainForAFileThatGrows) {
  Write(1000);
  const File file = OpenThenResize(20 * kMiB);
  std::vector<size_t> asked;
  EXPECT_EQ(Content(ReadAll(file, FileReader(30 * kMiB), FileReader::kUsualBytes, &asked)).size(), 20 * kMiB);
  EXPECT_THAT(asked, testing::Not(testing::IsEmpty()));
  EXPECT_LT(asked.back(), 2 * Base64EncodedSize(20 * kMiB));
}

TEST_F(FileReaderTest, ReadsFilesThatSayNothingOfTheirSize) {
  const File file = *File::OpenForReading("/proc/self/maps", Symlinks::kFollow);
  EXPECT_THAT(Content(ReadAll(file, FileReader(30 * kMiB), 200)), testing::HasSubstr("[stack]"));
}

TEST_F(FileReaderTest, AsksForNoMoreThanTheLongestFileNeeds) {
  Write(kMiB);
  const File file = OpenThenResize(20 * kMiB);
  std::vector<size_t> asked;
  EXPECT_THAT(Content(ReadAll(file, FileReader(3 * kMiB), FileReader::kUsualBytes, &asked)),
              testing::HasSubstr("longer than"));
  for (const size_t bytes : asked) EXPECT_LT(bytes, Base64EncodedSize(3 * kMiB) + 1000);
}

TEST_F(FileReaderTest, ReadsAFileThatShrinks) {
  Write(3 * kMiB);
  const File file = OpenThenResize(10);
  EXPECT_EQ(Content(ReadAll(file, FileReader(30 * kMiB), kMiB)), std::string(10, 'x'));
}

}  // namespace
}  // namespace holdfast::files
