#include "files/helper/protocol.h"

#include <gtest/gtest.h>

namespace holdfast::files {
namespace {

TEST(ProtocolTest, SaysWhatToDoInOneLine) {
  EXPECT_EQ(Request("fs/remove", R"({"path":"/x"})"), R"({"operation":"fs/remove","params":{"path":"/x"}})");
}

TEST(ProtocolTest, GivesTheResponseBack) {
  const std::string line = Success("fs/remove", R"({"a":{}})");
  EXPECT_EQ(line, R"({"status":"ok","payload":{"operation":"fs/remove","response":{"a":{}}}})");
  EXPECT_EQ(*ReadAnswer("fs/remove", line), R"({"a":{}})");
}

TEST(ProtocolTest, GivesAnErrorBackWithItsCodeAndText) {
  const std::string line = Failure({ErrorKind::kNotFound, "open /x\n: No such file"});
  EXPECT_FALSE(line.contains('\n'));
  const auto answer = ReadAnswer("fs/remove", line);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(answer.error().message, "open /x\n: No such file");
}

TEST(ProtocolTest, RefusesTheAnswerToSomethingElse) {
  EXPECT_FALSE(ReadAnswer("fs/copy", Success("fs/remove", "{}")));
  EXPECT_FALSE(ReadAnswer("fs/copy", "nonsense"));
  EXPECT_FALSE(ReadAnswer("fs/copy", ""));
}

}  // namespace
}  // namespace holdfast::files
