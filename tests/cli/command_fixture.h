// Command lines that run the built program against a server of the test's own. The server listens on a unix socket, and
// $HOLDFAST_SERVER names it.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/program.h"
#include "support/scratch_dir.h"
#include "support/server_process.h"

namespace holdfast::cli {

class CommandFixture : public testing::Test {
 protected:
  // The variables of the test's environment of which a sandboxed `holdfast run` would say that it leaves them out.
  static std::vector<std::string> NamesLikeSecrets() {
    std::vector<std::string> names;
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string text = *entry, name = text.substr(0, text.find('='));
      std::string upper = name;
      std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return std::toupper(c); });
      const auto contains = [&](const char* word) { return upper.contains(word); };
      if (std::ranges::any_of(std::array{"KEY", "SECRET", "TOKEN", "PASSWORD"}, contains)) names.push_back(name);
    }
    return names;
  }

  // The words of a program that runs a line of bash, in which `holdfast` is the built program.
  std::vector<std::string> Bash(const std::string& line) const {
    const std::string bin = std::string(HOLDFAST_BINARY).substr(0, std::string(HOLDFAST_BINARY).rfind('/'));
    std::vector<std::string> words = {"env"};
    for (std::string& name : NamesLikeSecrets()) words.insert(words.end(), {"-u", std::move(name)});
    words.insert(words.end(),
                 {"HOLDFAST_SERVER=" + url_, "PATH=" + bin + ":/usr/bin:/bin", "XDG_RUNTIME_DIR=" + scratch_.path(),
                  "NO_COLOR=1", "bash", "-c", "set -o pipefail; cd " + scratch_.path() + "; " + line});
    return words;
  }

  support::Outcome Run(const std::string& line) const { return support::Program(Bash(line)).Finish(); }

  // Expects success and an empty standard error, and returns standard output.
  std::string Output(const std::string& line) const {
    const support::Outcome outcome = Run(line);
    EXPECT_EQ(outcome.status, 0) << line << "\n" << outcome.err;
    EXPECT_EQ(outcome.err, "") << line;
    return outcome.out;
  }

  // Expects this exit status and one line on standard error, and returns that line.
  std::string Refusal(const std::string& line, int status) const {
    const support::Outcome outcome = Run(line);
    EXPECT_EQ(outcome.status, status) << line << "\n" << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    return outcome.err;
  }

  std::string Path(const std::string& name) const { return scratch_.path() + "/" + name; }

  std::string Content(const std::string& name) const {
    std::ifstream file(Path(name), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  void StartServer() {
    server_.emplace_back(support::ServerProcess::Start({"--listen", "unix://" + Path("server.sock")}));
  }
  support::ServerProcess& server() { return server_.back(); }

  support::ScratchDir scratch_;
  std::string url_ = "unix://" + Path("server.sock");
  std::vector<support::ServerProcess> server_;
};

class ServedCommandFixture : public CommandFixture {
 protected:
  ServedCommandFixture() { StartServer(); }
};

}  // namespace holdfast::cli
