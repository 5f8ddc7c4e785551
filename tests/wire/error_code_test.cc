#include "wire/error_code.h"

#include <gtest/gtest.h>

namespace holdfast::wire {
namespace {

TEST(ErrorCodeTest, GivesEachKindTheCodeThatClientsBranchOn) {
  EXPECT_EQ(ErrorCode(ErrorKind::kNotJson), -32700);
  EXPECT_EQ(ErrorCode(ErrorKind::kInvalidRequest), -32600);
  EXPECT_EQ(ErrorCode(ErrorKind::kPermissionDenied), -32600);
  EXPECT_EQ(ErrorCode(ErrorKind::kLimit), -32600);
  EXPECT_EQ(ErrorCode(ErrorKind::kUnknownMethod), -32601);
  EXPECT_EQ(ErrorCode(ErrorKind::kInvalidParams), -32602);
  EXPECT_EQ(ErrorCode(ErrorKind::kNoSuchProgram), -32603);
  EXPECT_EQ(ErrorCode(ErrorKind::kCannotExecute), -32603);
  EXPECT_EQ(ErrorCode(ErrorKind::kSystem), -32603);
  EXPECT_EQ(ErrorCode(ErrorKind::kInternal), -32603);
  EXPECT_EQ(ErrorCode(ErrorKind::kNotFound), -32004);
  EXPECT_EQ(ErrorCode(ErrorKind::kSessionAttached), -32010);
}

TEST(ErrorNameTest, TellsKindsWithOneCodeApart) {
  EXPECT_EQ(ErrorName(ErrorKind::kNoSuchProgram), "noSuchProgram");
  EXPECT_EQ(ErrorName(ErrorKind::kCannotExecute), "cannotExecute");
  EXPECT_EQ(ErrorName(ErrorKind::kSystem), "");
  EXPECT_EQ(KindOf(-32603, "noSuchProgram"), ErrorKind::kNoSuchProgram);
  EXPECT_EQ(KindOf(-32603, "cannotExecute"), ErrorKind::kCannotExecute);
}

TEST(ErrorNameTest, MeansNothingWithAnotherCodeOrIfItIsNotKnown) {
  EXPECT_EQ(KindOf(-32602, "noSuchProgram"), ErrorKind::kInvalidParams);
  EXPECT_EQ(KindOf(-32603, "noSuchMoon"), ErrorKind::kSystem);
  EXPECT_EQ(KindOf(-32603), ErrorKind::kSystem);
}

}  // namespace
}  // namespace holdfast::wire
