#include "cli/table/secret_words.h"

#include "cli/table/command.h"

namespace holdfast::cli {
namespace {

// Returns the length of `ws://HOST:PORT/`; that of the whole URL if there is nothing behind it, or if its path is no
// secret.
size_t LengthWithoutSecret(const std::string& url) {
  if (!url.starts_with("ws://") && !url.starts_with("wss://")) return url.size();
  const size_t path = url.find('/', url.find("://") + 3);
  return path == std::string::npos ? url.size() : path + 1;
}

}  // namespace

std::vector<SecretWord> SecretWordsIn(const Arguments& arguments) {
  std::vector<SecretWord> found;
  for (const Option& option : arguments.command().options) {
    if (option.secret == Option::Secret::kNothing) continue;
    for (const std::string& url : arguments.Values(option.name())) {
      if (const size_t shown = LengthWithoutSecret(url); shown < url.size()) found.push_back({url, shown});
    }
  }
  return found;
}

}  // namespace holdfast::cli
