#include "cli/local/commands.h"

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "base/parse_number.h"
#include "cli/table/arguments.h"
#include "cli/text/complaint.h"
#include "rendezvous/config_check.h"
#include "rendezvous/run_rendezvous.h"

namespace holdfast::cli {
namespace {

constexpr const char *kListen = "--listen", *kTokens = "--tokens", *kMaxConnections = "--max-connections";
constexpr int kUsageStatus = 2;

int ComplainOfUsage(const std::string& fault) {
  PrintComplaint("holdfast rendezvous", fault + "; see holdfast rendezvous --help");
  return kUsageStatus;
}

void PrintUrl(const std::string& url) {
  (void)std::printf("%s\n", url.c_str());
  (void)std::fflush(stdout);  // a caller that has closed standard output does not want the URL
}

int RunRendezvous(const Arguments& arguments) {
  rendezvous::RendezvousConfig config;
  config.listen = arguments.ValueOr(kListen, "");
  config.tokens_file = arguments.ValueOr(kTokens, "");
  if (config.listen.empty() || config.tokens_file.empty()) return ComplainOfUsage("--listen and --tokens are needed");
  const auto connections =
      ParseNumber<uint32_t>(arguments.ValueOr(kMaxConnections, std::to_string(config.max_connections)));
  if (!connections || *connections == 0) return ComplainOfUsage("--max-connections has to be a number above 0");
  config.max_connections = *connections;
  config.bus = arguments.ValueOr("--bus", config.bus);
  config.nats_credentials = arguments.ValueOr("--nats-credentials", "");
  config.advertise = arguments.ValueOr("--advertise", "");
  config.insecure_node_http = arguments.Has("--insecure-node-http");
  config.public_url = arguments.ValueOr("--public-url", "");
  config.tls_cert = arguments.ValueOr("--tls-cert", "");
  config.tls_key = arguments.ValueOr("--tls-key", "");
  config.log_level = arguments.ValueOr("--log-level", config.log_level);
  config.log_format = arguments.ValueOr("--log-format", config.log_format);
  if (const auto fits = rendezvous::CheckConfig(config); !fits) return ComplainOfUsage(fits.error().message);
  const auto ended = rendezvous::RunRendezvous(config, PrintUrl);
  if (ended) return 0;
  PrintComplaint("holdfast", ended.error().message);
  return 1;
}

std::vector<Option> Options() {
  const rendezvous::RendezvousConfig defaults;
  return {
      {.flag = kListen, .value = "IP:PORT", .help = "the address to listen on; port 0 is a free one"},
      {.flag = kTokens,
       .value = "FILE",
       .help = "the TOML file of the tokens of executors and clients. It is read again when it has changed",
       .completes = Completes::kFile},
      {.flag = "--bus",
       .value = "BUS",
       .help = "how the nodes of the rendezvous find each other. memory: there is one node only; nats://HOST:PORT or "
               "tls://HOST:PORT: by that NATS server with JetStream, or several, separated by commas",
       .default_value = defaults.bus},
      {.flag = "--nats-credentials",
       .value = "FILE",
       .help = "the file of credentials for the NATS server",
       .completes = Completes::kFile},
      {.flag = "--advertise",
       .value = "URL",
       .help = "the http or https URL at which the other nodes dial this one (default: the address of --listen, or if "
               "that is every address, the one at which NATS sees the node)"},
      {.flag = "--insecure-node-http",
       .help = "lets the nodes dial each other at http URLs of other machines; what clients and executors say can be "
               "read on the way then"},
      {.flag = "--public-url",
       .value = "URL",
       .help = "the http or https URL under which executors reach this node, if a proxy is in front of it (default: "
               "the host that they ask for)"},
      {.flag = "--tls-cert",
       .value = "FILE",
       .help = "file with the certificate chain of the node, in PEM. With it and --tls-key the port speaks TLS",
       .completes = Completes::kFile},
      {.flag = "--tls-key",
       .value = "FILE",
       .help = "file with the private key of --tls-cert, in PEM, without a passphrase",
       .completes = Completes::kFile},
      {.flag = kMaxConnections,
       .value = "N",
       .help = "most connections at a time, of executors and clients together",
       .default_value = std::to_string(defaults.max_connections)},
      {.flag = "--log-level",
       .value = "LEVEL",
       .help = "the least severe level that is logged",
       .choices = {"debug", "info", "warn", "error", "off"},
       .default_value = defaults.log_level},
      {.flag = "--log-format",
       .value = "FORMAT",
       .help = "the format of log lines",
       .choices = {"text", "json"},
       .default_value = defaults.log_format},
  };
}

}  // namespace

Command RendezvousCommand() {
  return {.name = "rendezvous",
          .topic = Topic::kServers,
          .summary = "Joins clients to executors that cannot be reached directly.",
          .description =
              "Executors register and connect (holdfast exec-server --remote). A client connects to /executors/ID by "
              "WebSocket, with a bearer token, and is joined to that executor. The program prints its URL to standard "
              "output, and logs to standard error. SIGTERM and SIGINT stop it, and SIGHUP makes it read "
              "the file of tokens at once.\n\n"
              "The file of tokens has a table [[executor]] or [[client]] for each token, with token_sha256, the "
              "SHA-256 digest of the token in hexadecimal digits, and ids, a list of the ids for which it is valid, "
              "where * stands for any text. name and max_connections are optional.",
          .options = Options(),
          .examples = {{"holdfast rendezvous --listen 127.0.0.1:8080 --tokens tokens.toml",
                        "Joins the executors and clients of one machine, or those that a proxy passes on."},
                       {"holdfast rendezvous --listen 127.0.0.1:8081 --tokens tokens.toml --bus nats://127.0.0.1:4222",
                        "Is one of several nodes that share a NATS server, all on one machine."}},
          .exit_statuses = {{"0", "a signal has stopped the program"},
                            {"1", "the program could not start"},
                            {"2", "the options do not fit together"}},
          .run = RunRendezvous};
}

}  // namespace holdfast::cli
