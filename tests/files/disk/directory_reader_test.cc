#include "files/disk/directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "files/disk/storage_fixture.h"

namespace holdfast::files {
namespace {

class DirectoryReaderTest : public StorageTest {
 protected:
  static DirectoryReader ReaderOf(const std::string& path) {
    return DirectoryReader(OwnedFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)), path);
  }
};
HOLDFAST_ON_EACH_STORAGE(DirectoryReaderTest);

TEST_P(DirectoryReaderTest, GivesEachNameWithItsType) {
  MakeFile("file");
  MakeDirectory("folder");
  MakeLink("link", "nowhere");
  MakeFifo("fifo");
  MakeSocket("socket");
  DirectoryReader reader = ReaderOf(Path());
  std::map<std::string, int> seen;
  for (;;) {
    auto entry = reader.Next();
    ASSERT_TRUE(Succeeds(entry));
    if (!*entry) break;
    EXPECT_EQ(std::strlen((*entry)->name.data()), (*entry)->name.size());
    EXPECT_TRUE(seen.emplace((*entry)->name, (*entry)->type).second);
  }
  EXPECT_EQ(seen, (std::map<std::string, int>{
                      {"fifo", DT_FIFO}, {"file", DT_REG}, {"folder", DT_DIR}, {"link", DT_LNK}, {"socket", DT_SOCK}}));
}

TEST_P(DirectoryReaderTest, StaysAtTheEnd) {
  DirectoryReader reader = ReaderOf(Path());
  for (int i = 0; i < 3; ++i) {
    auto entry = reader.Next();
    ASSERT_TRUE(Succeeds(entry));
    EXPECT_FALSE(*entry);
  }
}

TEST_P(DirectoryReaderTest, GoesOnWhenWhatItGaveIsRemoved) {
  constexpr int kFiles = 600;  // more than two buffers
  const std::string folder = MakeDirectory("folder");
  const std::string long_name(240, 'n');
  for (int i = 0; i < kFiles; ++i) {
    ASSERT_EQ(::mknod((folder + "/" + long_name + std::to_string(i)).c_str(), S_IFREG | 0644, 0), 0);
  }
  DirectoryReader reader = ReaderOf(folder);
  int removed = 0;
  for (auto entry = reader.Next(); entry && *entry; entry = reader.Next()) {
    removed += ::unlinkat(reader.fd(), (*entry)->name.data(), 0) == 0;
  }
  EXPECT_EQ(removed, kFiles);
}

TEST_P(DirectoryReaderTest, ReportsWhatCannotBeRead) {
  DirectoryReader file(OwnedFd(::open(MakeFile("file").c_str(), O_RDONLY | O_CLOEXEC)), "/some/path");
  EXPECT_TRUE(FailsWith(file.Next(), ErrorKind::kSystem, "getdents64 /some/path: Not a directory"));
  DirectoryReader closed(OwnedFd(-1));
  EXPECT_TRUE(FailsWith(closed.Next(), ErrorKind::kSystem, "getdents64: Bad file descriptor"));
}

}  // namespace
}  // namespace holdfast::files
