// The settings of a bus over NATS, and what is checked about them.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace holdfast::rendezvous {

struct NatsSettings {
  std::string url;                 // nats://HOST:PORT or tls://HOST:PORT; several are separated by commas
  std::string credentials_file{};  // of NATS, may be empty
  std::string bucket = "holdfast-executors";
  std::chrono::milliseconds record_time_to_live{30'000};  // of the records of a node that has died
  // Returns the URL at which other nodes dial this one. `seen` asks NATS for the address at which it sees the node.
  using AddressSeen = std::function<Result<std::string>()>;
  std::function<Result<std::string>(const AddressSeen& seen)> node_url{};
};

// Returns the URLs of the settings. Fails if anything in the settings cannot be used. No message contains a URL, which
// may have a password in it.
Result<std::vector<std::string>> CheckedUrls(const NatsSettings& settings);

}  // namespace holdfast::rendezvous
