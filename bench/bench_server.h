// The server that a benchmark measures from outside, as a child process.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace holdfast::bench {

// Ends the program unless `holds`: a benchmark that went wrong has no number to print.
void Require(bool holds, std::string_view reason);

// A server process: the binary under test with its default settings, on a port that it chooses. The destructor ends it.
class Server {
 public:
  Server();
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  const std::string& url() const { return url_; }

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
