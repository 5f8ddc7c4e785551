#include "exec_server/methods.h"

#include <gmock/gmock.h>

#include "exec_server/server_fixture.h"
#include "wire/method_lists.h"

namespace holdfast::exec_server {
namespace {

class MethodsTest : public ServerFixture {};

TEST_F(MethodsTest, AnswersEveryMethodWithoutParamsByACodeOfItsOwn) {
  Client& client = ConnectReady();
  for (const std::string& name : methods_->names()) {
    const bool callable_bare =
        name.ends_with("/list") || name == "session/takeOver" || name.starts_with("environment/");
    EXPECT_EQ(Call(client, name, "null").error_code(), callable_bare ? 0 : -32602) << name;
  }
}

TEST_F(MethodsTest, HasTheMethodsThatClientsAreOffered) {
  EXPECT_THAT(methods_->names(), testing::UnorderedElementsAreArray(wire::kMethodNames));
}

TEST_F(MethodsTest, LeavesTheHandshakeToTheConnection) {
  EXPECT_EQ(methods_->Find("initialize"), nullptr);
  EXPECT_EQ(methods_->Find("initialized"), nullptr);
}

}  // namespace
}  // namespace holdfast::exec_server
