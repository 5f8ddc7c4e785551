#include "sys/write_all.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "sys/io.h"

namespace holdfast::sys {
namespace {

TEST(WriteAllTest, WritesMoreThanAPipeHoldsAtOnce) {
  auto pipe = MakePipe(OurEnd::kRead);
  ASSERT_TRUE(pipe);
  ASSERT_TRUE(SetBlocking(pipe->read_end.get(), Blocking::kYes));
  const std::string sent(1 << 20, 'x');
  std::string received;
  std::thread reader([&] {
    char block[1000];
    for (ssize_t n; (n = Read(pipe->read_end.get(), block, sizeof block)) > 0;) {
      received.append(block, static_cast<size_t>(n));
    }
  });
  EXPECT_EQ(WriteAll(pipe->write_end.get(), sent), 0);
  pipe->write_end.Reset();
  reader.join();
  EXPECT_EQ(received, sent);
}

TEST(WriteAllTest, ReturnsTheErrno) {
  EXPECT_EQ(WriteAll(-1, "x"), EBADF);
  EXPECT_EQ(WriteAll(-1, ""), 0);
  auto pipe = MakePipe(OurEnd::kWrite);
  ASSERT_TRUE(pipe);
  const std::string more_than_fits(1 << 20, 'x');
  EXPECT_EQ(WriteAll(pipe->write_end.get(), more_than_fits), EAGAIN);
}

}  // namespace
}  // namespace holdfast::sys
