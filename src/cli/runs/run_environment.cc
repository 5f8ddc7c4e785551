#include "cli/runs/run_environment.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/environment_variable.h"
#include "base/utf8.h"

namespace holdfast::cli {
namespace {

// The variables of an environment, each name once.
using Variables = std::map<std::string, std::string, std::less<>>;

// The URL of a server has a secret, by which a command could run others without a sandbox, and the file has a token.
constexpr std::array kServerVariables = {"HOLDFAST_SERVER", "HOLDFAST_TOKEN_FILE"};

// The words in the names of variables that usually are credentials. A server adds all but the last one to the patterns
// that it is given.
constexpr std::array<std::string_view, 4> kSecretWords = {"KEY", "SECRET", "TOKEN", "PASSWORD"};
constexpr char kPatternOfOurs[] = "*PASSWORD*";

bool LooksLikeASecret(std::string_view name) {
  return std::ranges::any_of(kSecretWords, [name](std::string_view word) {
    return !std::ranges::search(name, word, [](char a, char b) { return AsciiLower(a) == AsciiLower(b); }).empty();
  });
}

// A variable that is not UTF-8 cannot be part of a message, and is left out.
Variables OwnEnvironment() {
  Variables variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0 || !IsUtf8(text)) continue;
    variables.insert_or_assign(std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)));
  }
  return variables;
}

// Adds NAME=VALUE, or the own value of NAME.
Result<> AddVariable(const std::string& text, Variables& variables) {
  const size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  if (name.empty()) return Fail(ErrorKind::kInvalidParams, fmt::format("--env: \"{}\" is not NAME=VALUE", text));
  const auto value = equals == std::string::npos ? EnvironmentVariable(name.c_str()) : text.substr(equals + 1);
  if (value) variables.insert_or_assign(name, *value);
  return {};
}

// What a command gets of an environment.
struct Passed {
  bool server_variables = true;
  bool secrets = true;
};

// Returns the policy by which a server that is not on this machine makes the environment of its own.
wire::EnvPolicy PolicyFor(const Passed& passed) {
  wire::EnvPolicy policy;
  policy.inherit = wire::Inherit::kAll;
  policy.ignore_default_excludes = passed.secrets;
  if (!passed.server_variables) policy.exclude.assign(kServerVariables.begin(), kServerVariables.end());
  if (!passed.secrets) policy.exclude.emplace_back(kPatternOfOurs);
  return policy;
}

// Removes what is not passed. Returns the names of the variables that look like secrets.
std::vector<std::string> Restrict(Variables& variables, const Passed& passed) {
  std::vector<std::string> left_out;
  if (!passed.server_variables) {
    for (const char* name : kServerVariables) variables.erase(name);
  }
  if (passed.secrets) return left_out;
  std::erase_if(variables, [&](const auto& variable) {
    if (!LooksLikeASecret(variable.first)) return false;
    left_out.push_back(variable.first);
    return true;
  });
  return left_out;
}

}  // namespace

Result<std::vector<std::string>> SetEnvironment(const Invocation& invocation, const std::string& run_name,
                                                client::StartOptions& options) {
  const Arguments& arguments = invocation.arguments();
  const bool distrusted = !options.sandbox.empty() || options.exec_policy.has_value();
  const Passed passed{.server_variables = !distrusted, .secrets = !distrusted || arguments.Has("--env-all")};
  Variables variables;
  std::vector<std::string> left_out;
  if (invocation.server().is_local()) {
    variables = OwnEnvironment();
    left_out = Restrict(variables, passed);
  } else {
    options.env_policy = PolicyFor(passed);
    const auto term = EnvironmentVariable("TERM");
    if (term && options.terminal) variables["TERM"] = *term;
  }
  variables["HOLDFAST_RUN"] = run_name;
  for (const std::string& text : arguments.Values("--env")) TRY_VOID(AddVariable(text, variables));
  std::erase_if(left_out, [&](const std::string& name) { return variables.contains(name); });
  options.env.assign(variables.begin(), variables.end());
  return left_out;
}

}  // namespace holdfast::cli
