// The real program as an executor, with a registry and a rendezvous of the test's own.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "remote/scripted_registry.h"
#include "remote/scripted_rendezvous.h"
#include "support/eventually.h"
#include "support/message.h"
#include "support/rpc_client.h"
#include "support/server_process.h"

namespace holdfast::remote {

class ExecutorFixture : public testing::Test {
 protected:
  static constexpr const char* kToken = "sesame-token";

  static std::vector<std::string> Words(std::vector<std::string> flags) {
    flags.insert(flags.begin(), "exec-server");
    flags.emplace_back("--sandbox-check=false");
    return flags;
  }
  static std::vector<std::string> Environment() {
    return {fmt::format("CODEX_EXEC_SERVER_REMOTE_BEARER_TOKEN={}", kToken)};
  }

  support::ServerProcess Start(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"--remote", registry_.url(), "--executor-id", "exec-1"});
    return support::ServerProcess::Launch(Words(std::move(more)), Environment());
  }
  support::ServerProcess StartDirect() const {
    return support::ServerProcess::Launch(Words({"--remote", registry_.url(), "--environment-id", "env-1"}),
                                          Environment());
  }

  // Accepts the next connection of the executor and does the handshake of a client, which resumes `session` if that is
  // not empty.
  support::RpcClient JoinNext(std::string_view session = "") {
    Visit visit = rendezvous_.Accept();
    EXPECT_TRUE(visit);
    support::RpcClient client = visit.Join();
    client.Handshake(session.empty() ? "" : fmt::format(R"("resumeSessionId":"{}")", session));
    return client;
  }

  ScriptedRegistry registry_;
  ScriptedRendezvous rendezvous_;
};

}  // namespace holdfast::remote
