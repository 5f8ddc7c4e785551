#include "client/child_dialer.h"

#include <string>

#include <gtest/gtest.h>

#include "client/client_fixture.h"

namespace holdfast::client {
namespace {

class ChildDialerTest : public ClientTest {};

// The child answers the handshake and exits at the first request.
constexpr const char* kShortLife =
    R"(read initialize; echo '{"id":1,"result":{"sessionId":"S","environmentInfo":{"shell":{"name":"sh","path":"/bin/sh"}}}}';)"
    R"(read initialized; read request)";

TEST_F(ChildDialerTest, TheSessionEndsWithTheChild) {
  auto client = Run(ExecServerClient::ConnectBy(loop_, MakeChildDialer(loop_, {"/bin/sh", "-c", kShortLife}), {}));
  ASSERT_TRUE(client) << client.error().message;
  const auto call = Run(client->Call<wire::ProcessList>({}));
  ASSERT_FALSE(call);
  EXPECT_EQ(call.error().message, "the session is lost: the server has exited");
}

}  // namespace
}  // namespace holdfast::client
