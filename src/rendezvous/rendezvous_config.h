// The settings of a node.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace holdfast::rendezvous {

struct RendezvousConfig {
  std::string listen;  // IP:PORT; port 0 is a free one
  std::string tokens_file;
  std::string bus = "memory";         // or nats://HOST:PORT or tls://HOST:PORT of a NATS server
  std::string nats_credentials = {};  // a file; may be empty
  std::string advertise = {};       // the http or https URL at which other nodes dial this one; empty: its own address
  bool insecure_node_http = false;  // nodes on other machines may be dialled at http URLs
  std::string public_url = {};      // the http or https URL of the node; empty: requests name it in their Host header
  std::string tls_cert = {}, tls_key = {};  // PEM files; both or none
  size_t max_connections = 10'000;
  std::string log_level = "info", log_format = "text";
};

// Told the http or https URL of the node when it serves.
using OnListening = std::function<void(const std::string& url)>;

}  // namespace holdfast::rendezvous
