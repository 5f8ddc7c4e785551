// The program that a benchmark measures from outside, as a child process.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::bench {

// Ends the program unless `holds`: a benchmark that went wrong has no number to print.
void Require(bool holds, std::string_view reason);

// A process of the binary under test, which is a server on a port that it chooses unless the arguments tell otherwise.
// The destructor ends it.
struct Launch {
  enum class Prints { kUrl, kNothing };

  std::vector<std::string> arguments = {"exec-server", "--log-level", "warn"};
  std::vector<std::string> variables = {};  // NAME=value, added to the environment
  Prints prints = Prints::kUrl;
};

class Server {
 public:
  explicit Server(const Launch& launch = {});
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  const std::string& url() const { return url_; }  // as it was printed

  // Waits until the server sleeps and has exactly `children` child processes. By then the work that follows its last
  // message is done too.
  void AwaitQuiet(size_t children) const;

  double CpuSeconds() const;
  double RssKib() const;

 private:
  pid_t pid_;
  std::string url_;
};

}  // namespace holdfast::bench
