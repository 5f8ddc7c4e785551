// rg as a lister of files: found in a place that no command can write to, started without the user's configuration or
// environment, and not trusted with more than names.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/owned_fd.h"
#include "base/result.h"

namespace holdfast::sandbox {

// The first program `rg` that FindTool offers.
std::optional<std::string> FindRipgrep(std::string_view path_variable, std::span<const std::string> untrusted);

struct RipgrepSearch {
  std::string program;
  std::vector<std::string> globs;  // Glob::Loosened()
  std::optional<size_t> max_depth;
};

// A run, ended at the latest with this object.
class Ripgrep {
 public:
  // Lists regular files below the open directory.
  static Result<Ripgrep> Start(const RipgrepSearch& search, int directory);

  Ripgrep(Ripgrep&& other) noexcept;
  Ripgrep& operator=(Ripgrep&&) = delete;
  ~Ripgrep();

  // Gives each path, relative to the directory. Fails when rg does, whatever it has listed, when it is not done by the
  // deadline, or when `found` fails.
  using Found = std::function<Result<>(std::string_view path)>;
  Result<> Collect(const Found& found, std::chrono::steady_clock::time_point deadline);

 private:
  Ripgrep(pid_t pid, OwnedFd output, OwnedFd errors);

  Result<> ReadOutput(const Found& found);
  void ReadErrors();
  Result<> Judge(int status) const;

  pid_t pid_;
  OwnedFd output_, errors_;
  std::string partial_;     // the start of a path
  std::string complaints_;  // the start of what rg wrote to its standard error
};

}  // namespace holdfast::sandbox
