// Runs one command on a server and prints its output, in plain blocking code:
//   run_command URL make -j4
// The URL is the line that the server prints when it listens; it may end in a secret.
#include <cstdio>
#include <string>
#include <vector>

#include "holdfast/client/blocking.h"

namespace {

using holdfast::client::BlockingClient;

int Complain(const holdfast::Error& error) {
  (void)std::fprintf(stderr, "run_command: %s\n", error.message.c_str());
  return 125;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    (void)std::fprintf(stderr, "usage: run_command URL PROGRAM [ARGUMENT...]\n");
    return 2;
  }
  auto client = BlockingClient::Connect({.url = argv[1], .client_name = "run_command"});
  if (!client) return Complain(client.error());
  const auto done = client->Run(
      {.argv = std::vector<std::string>(argv + 2, argv + argc), .env = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}}},
      /*input=*/"");
  if (!done) return Complain(done.error());
  (void)std::fputs(done->output.out.c_str(), stdout);
  (void)std::fputs(done->output.err.c_str(), stderr);
  return static_cast<int>(done->exit.exit_code);
}
