#include "sys/read_to_end.h"

#include <unistd.h>

#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "sys/io.h"
#include "sys/memory_file.h"
#include "sys/write_all.h"

namespace holdfast::sys {
namespace {

constexpr size_t kMiB = 1 << 20;

TEST(ReadToEndTest, ReturnsATextOfSeveralPieces) {
  std::string text(kMiB - 1, 'x');
  text[kMiB / 2] = '\0';
  const auto file = MakeMemoryFile("test", text);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(ReadToEnd(file->get(), kMiB, "test"), text);
}

TEST(ReadToEndTest, ReadsAPipeThatIsFilledMeanwhile) {
  auto pipe = MakePipe(OurEnd::kWrite);
  ASSERT_TRUE(pipe) << pipe.error().message;
  ASSERT_TRUE(SetBlocking(pipe->write_end.get(), Blocking::kYes));
  const std::string text(300'000, 'x');
  std::thread writer([&] {
    EXPECT_EQ(WriteAll(pipe->write_end.get(), text), 0);
    pipe->write_end.Reset();
  });
  EXPECT_EQ(ReadToEnd(pipe->read_end.get(), kMiB, "test"), text);
  writer.join();
}

TEST(ReadToEndTest, RefusesATextThatIsTooLong) {
  const auto fits = MakeMemoryFile("test", std::string(kMiB, 'x'));
  EXPECT_TRUE(ReadToEnd(fits->get(), kMiB, "test"));
  const auto file = MakeMemoryFile("test", std::string(kMiB + 1, 'x'));
  const auto text = ReadToEnd(file->get(), kMiB, "test");
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error(), (Error{ErrorKind::kLimit, "test has more than 1 MiB"}));
}

TEST(ReadToEndTest, NamesTheFileThatCannotBeRead) {
  const auto text = ReadToEnd(-1, kMiB, "test");
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().message, "read test: Bad file descriptor");
}

}  // namespace
}  // namespace holdfast::sys
