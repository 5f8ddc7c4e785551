// Embeds an exec-server in a program of its own:
//   embed_server /usr/local/bin
// The argument is the directory of an installed holdfast, which has the sandbox helper. The server prints its URL and
// serves until it is interrupted.
#include <cstdio>
#include <string>

#include "holdfast/exec_server/config/config.h"
#include "holdfast/exec_server/run_exec_server.h"

int main(int argc, char** argv) {
  using namespace holdfast;
  if (argc != 2) {
    (void)std::fprintf(stderr, "usage: embed_server DIRECTORY\n");
    return 2;
  }
  exec_server::Config config;
  config.listen = exec_server::kDefaultListenUrl;
  config.log_level = "warn";
  config.max_processes = 16;
  const auto ended = exec_server::RunExecServer(config, exec_server::InstalledIn(argv[1]), [](const std::string& url) {
    (void)std::printf("%s\n", url.c_str());
    (void)std::fflush(stdout);
  });
  if (ended) return 0;
  (void)std::fprintf(stderr, "embed_server: %s\n", ended.error().message.c_str());
  return 1;
}
