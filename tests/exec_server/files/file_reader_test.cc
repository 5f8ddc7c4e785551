#include "exec_server/files/file_reader.h"

#include <unistd.h>

#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/base64.h"
#include "support/message.h"
#include "support/scratch_dir.h"

namespace holdfast::exec_server {
namespace {

constexpr size_t kMiB = 1u << 20;
constexpr std::string_view kHead = R"({"id":1,"result":)";

class FileReaderTest : public testing::Test {
 protected:
  void Write(size_t bytes) const { std::ofstream(path_, std::ios::binary) << std::string(bytes, 'x'); }

  // Returns an opener that opens the file and makes it grow before anything is read.
  FileReader::Opener OpenThenGrow(size_t bytes) const {
    return [this, bytes]() -> Result<files::File> {
      auto file = files::File::OpenForReading(path_, files::Symlinks::kFollow);
      EXPECT_EQ(::truncate(path_.c_str(), static_cast<off_t>(bytes)), 0);
      return file;
    };
  }
  FileReader::Opener Open() const {
    return [this] { return files::File::OpenForReading(path_, files::Symlinks::kFollow); };
  }

  // Reads the whole file, and gives the reader the memory that it asks for. Checks that the reader never uses more than
  // it may.
  Result<std::string> ReadAll(FileReader& reader, size_t allowed, std::vector<size_t>* asked = nullptr) {
    std::string json(kHead);
    for (;;) {
      TRY(const size_t needed, reader(json, allowed));
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
  FileReader reader(Open(), kMiB);
  std::vector<size_t> asked;
  EXPECT_EQ(Content(ReadAll(reader, 200'000, &asked)), std::string(100'000, 'x'));
  EXPECT_THAT(asked, testing::IsEmpty());
}

TEST_F(FileReaderTest, AsksOnceForWhatTheFileSaysItHas) {
  Write(3 * kMiB);
  FileReader reader(Open(), 10 * kMiB);
  std::vector<size_t> asked;
  EXPECT_EQ(Content(ReadAll(reader, kMiB, &asked)).size(), 3 * kMiB);
  EXPECT_THAT(asked, testing::SizeIs(1));
  EXPECT_LT(asked.at(0), Base64EncodedSize(3 * kMiB) + 1000);
}

// If the reader did not ask again, a small file that grows between its open and its read would not be counted in the
// budget; twelve of them can take 1.4 GiB.
TEST_F(FileReaderTest, AsksAgainForAFileThatGrows) {
  Write(1000);
  FileReader reader(OpenThenGrow(20 * kMiB), 30 * kMiB);
  std::vector<size_t> asked;
  EXPECT_EQ(Content(ReadAll(reader, FileReader::kUsualBytes, &asked)).size(), 20 * kMiB);
  EXPECT_THAT(asked, testing::Not(testing::IsEmpty()));
  EXPECT_LT(asked.back(), 2 * Base64EncodedSize(20 * kMiB));
}

TEST_F(FileReaderTest, ReadsFilesThatSayNothingOfTheirSize) {
  FileReader reader([] { return files::File::OpenForReading("/proc/self/maps", files::Symlinks::kFollow); }, 30 * kMiB);
  EXPECT_THAT(Content(ReadAll(reader, 200)), testing::HasSubstr("[stack]"));
}

TEST_F(FileReaderTest, AsksForNoMoreThanTheLongestFileNeeds) {
  Write(kMiB);
  FileReader reader(OpenThenGrow(20 * kMiB), 3 * kMiB);
  std::vector<size_t> asked;
  EXPECT_THAT(Content(ReadAll(reader, FileReader::kUsualBytes, &asked)), testing::HasSubstr("longer than"));
  for (const size_t bytes : asked) EXPECT_LT(bytes, Base64EncodedSize(3 * kMiB) + 1000);
}

TEST_F(FileReaderTest, ReadsAFileThatShrinks) {
  Write(3 * kMiB);
  FileReader reader(OpenThenGrow(10), 30 * kMiB);
  EXPECT_EQ(Content(ReadAll(reader, kMiB)), std::string(10, 'x'));
}

}  // namespace
}  // namespace holdfast::exec_server
