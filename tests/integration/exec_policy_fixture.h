// A fixture with a server whose processes run under an execPolicy, and with the answers to its questions.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "integration/sandboxed_fixture.h"

namespace holdfast::support {

inline constexpr uid_t kNobody = 65534;

inline std::string Rule(std::string_view program, std::string_view decision, std::string_view more = "") {
  return fmt::format("prefix_rule(pattern=[\"{}\"], decision=\"{}\"{})\n", program, decision, more);
}

class ExecPolicyFixture : public SandboxedFixture {
 protected:
  using SandboxedFixture::SandboxedFixture;

  std::string RulesFile(const std::string& name, const std::string& rules) { return rules_.Write(name, rules); }

  static std::string Policy(const std::string& file, std::string_view more = "") {
    return fmt::format(R"("execPolicy":{{"rules":["{}"]{}}})", file, more);
  }
  static StartRequest With(StartRequest request, const std::string& policy) {
    request.more = (request.more.empty() ? "" : request.more + ",") + policy;
    return request;
  }
  // A script in a sandbox in which only the workspace may be written, under rules.
  StartRequest Judged(std::string id, std::string script, const std::string& rules, std::string_view more = "") {
    const std::string file = RulesFile(id + ".rules", rules);
    return With(Inside(std::move(id), std::move(script)), Policy(file, more));
  }

  std::string TouchElsewhere() const { return "/usr/bin/touch " + Elsewhere("made"); }
  bool MadeElsewhere() const { return std::filesystem::exists(Elsewhere("made")); }

  static Message Asked(RpcClient& client, std::string_view id) {
    return client.WaitForNotification("exec/approve", id);
  }
  static void Answer(RpcClient& client, const Message& question, std::string_view result) {
    client.channel().Send(fmt::format(R"({{"id":{},{}}})", question.Number("id"), result));
  }
  static void Decide(RpcClient& client, const Message& question, std::string_view decision) {
    Answer(client, question, fmt::format(R"("result":{{"decision":"{}"}})", decision));
  }

  // Starts a script that touches a file outside after a question, and answers the question.
  Ended RunAnswered(const std::string& id, std::string_view result) {
    client_.Start(Judged(id, TouchElsewhere() + "; exit $?", Rule("/usr/bin/touch", "prompt")));
    Answer(client_, Asked(client_, id), result);
    const Message exited = client_.WaitForNotification("process/exited", id);
    const std::string output = client_.WaitForClosed(id);
    return {exited.Number("params.exitCode"), output, exited.Flag("params.sandboxDenied")};
  }

  // Lets a server that runs as an ordinary user have these files, where the test runs as root.
  static void GiveToUser(const std::vector<std::string>& paths) {
    if (::geteuid() != 0) return;
    for (const std::string& path : paths) EXPECT_EQ(::chown(path.c_str(), kNobody, kNobody), 0) << path;
  }

  ScratchDir rules_;
};

}  // namespace holdfast::support
