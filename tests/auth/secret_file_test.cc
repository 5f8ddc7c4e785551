#include "auth/secret_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/scratch_dir.h"

namespace holdfast::auth {
namespace {

using testing::HasSubstr;

class SecretFileTest : public testing::Test {
 protected:
  std::string File(std::string_view text, mode_t mode = 0600) {
    std::string path = scratch_.Write("secret", text, mode);
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }
  static std::string WhyNot(const std::string& path) {
    const auto secret = ReadSecretFile(path);
    return secret ? "it was read" : secret.error().message;
  }

  support::ScratchDir scratch_;
};

TEST_F(SecretFileTest, IsReadWithoutTheBlanksAroundIt) {
  EXPECT_EQ(ReadSecretFile(File(" \n s3cret word\t\r\n"))->text, "s3cret word");
}

TEST_F(SecretFileTest, MustNotBeEmpty) {
  EXPECT_THAT(WhyNot(File("")), HasSubstr("it is empty"));
  EXPECT_THAT(WhyNot(File(" \n\t\n")), HasSubstr("it is empty"));
}

TEST_F(SecretFileTest, MustBeShort) {
  EXPECT_EQ(ReadSecretFile(File(std::string(16 << 10, 'x')))->text.size(), 16u << 10);
  EXPECT_THAT(WhyNot(File(std::string((16 << 10) + 1, 'x'))), HasSubstr("longer than 16384 bytes"));
}

TEST_F(SecretFileTest, MustNotBeWritableByOthers) {
  for (const mode_t mode : {0620, 0602, 0666}) {
    EXPECT_THAT(WhyNot(File("s3cret", mode)), HasSubstr("other users may change it (chmod go-w)")) << mode;
  }
}

TEST_F(SecretFileTest, TellsWhetherEveryoneMayReadIt) {
  EXPECT_FALSE(ReadSecretFile(File("s3cret", 0600))->is_readable_by_everyone);
  EXPECT_FALSE(ReadSecretFile(File("s3cret", 0640))->is_readable_by_everyone);
  EXPECT_TRUE(ReadSecretFile(File("s3cret", 0644))->is_readable_by_everyone);
}

TEST_F(SecretFileTest, MustBelongToThisUserOrRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const std::string path = File("s3cret");
  ASSERT_EQ(::chown(path.c_str(), 65534, 65534), 0);
  EXPECT_THAT(WhyNot(path), HasSubstr("it belongs to another user"));
}

// Opening a FIFO would wait for its writer.
TEST_F(SecretFileTest, MustBeARegularFile) {
  const std::string fifo = scratch_.path() + "/fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_THAT(WhyNot(fifo), HasSubstr("it is not a regular file"));
  EXPECT_THAT(WhyNot(scratch_.path()), HasSubstr("it is not a regular file"));
  EXPECT_THAT(WhyNot("/nonexistent/s3cret"), HasSubstr("No such file or directory"));
}

}  // namespace
}  // namespace holdfast::auth
