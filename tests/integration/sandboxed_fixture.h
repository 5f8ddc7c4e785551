// A fixture with a server, a client and a workspace, for commands that the server is asked to sandbox.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/contents.h"
#include "support/program.h"
#include "support/rpc_client.h"
#include "support/sandbox_workspace.h"
#include "support/scratch_dir.h"
#include "support/server_process.h"

namespace holdfast::support {

inline std::string Managed(const std::string& entries, std::string_view network = "restricted") {
  return fmt::format(R"({{"type":"managed","file_system":{{"type":"restricted","entries":[{}]}},"network":"{}"}})",
                     entries, network);
}

inline std::string ReadOnly() { return Managed(PlaceEntry("root", "read")); }

// Returns a policy under which the workspace may be written, but not /tmp, because the scratch directories are there.
inline std::string WorkspaceWrite(std::string_view network = "restricted") {
  return Managed(PlaceEntry("root", "read") + "," + PlaceEntry("project_roots", "write"), network);
}

// Returns the member of a request that asks for the sandbox.
inline std::string Sandbox(const std::string& permissions, std::string_view more = "") {
  return fmt::format(R"("sandbox":{{"permissions":{},"windowsSandboxLevel":"disabled"{}}})", permissions, more);
}

inline std::vector<std::string> NamesIn(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) names.push_back(entry.path().filename());
  return names;
}

inline std::string Mounts() { return Contents("/proc/self/mountinfo"); }

class SandboxedFixture : public testing::Test {
 protected:
  explicit SandboxedFixture(std::vector<std::string> flags = {}) : server_(ServerProcess::Start(std::move(flags))) {}

  void SetUp() override {
    if (Program({"bwrap", "--unshare-user", "--ro-bind", "/", "/", "true"}).Finish().status != 0) {
      GTEST_SKIP() << "bubblewrap, or user namespaces, are not available";
    }
  }

  StartRequest InSandbox(StartRequest request, const std::string& permissions, std::string_view more = "") const {
    request.cwd = workspace_.path();
    request.more = (request.more.empty() ? "" : request.more + ",") + Sandbox(permissions, more);
    return request;
  }
  StartRequest Inside(std::string id, std::string script) const {
    return InSandbox(Shell(std::move(id), std::move(script)), WorkspaceWrite());
  }

  // The result of Run, which runs a command to its end.
  struct Ended {
    int64_t exit_code;
    std::string output;
    bool denied;
  };
  Ended Run(const StartRequest& request) {
    client_.Start(request);
    const Message exited = client_.WaitForNotification("process/exited", request.id);
    const std::string output = client_.WaitForClosed(request.id);
    return {exited.Number("params.exitCode"), output, exited.Flag("params.sandboxDenied")};
  }

  Message Refusal(const StartRequest& request) {
    Message answer = client_.Call("process/start", request.Params());
    EXPECT_TRUE(answer.Has("error")) << answer;
    return answer;
  }
  std::string ReasonOf(const StartRequest& request) { return Refusal(request).Text("error.message"); }

  std::string In(const std::string& name) const { return workspace_.path() + "/" + name; }
  std::string Elsewhere(const std::string& name) const { return elsewhere_.path() + "/" + name; }

  ScratchDir workspace_, elsewhere_;
  ServerProcess server_;
  RpcClient client_ = RpcClient::Ready(server_.url());
};

}  // namespace holdfast::support
