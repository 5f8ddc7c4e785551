// A registry that answers each registration as the test has told it to.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "support/eventually.h"
#include "support/http_server.h"

namespace holdfast::remote {

class ScriptedRegistry {
 public:
  // Each of `headers` ends in \r\n.
  void Answer(int status, std::string body, std::string headers = "") {
    const std::lock_guard lock(mutex_);
    status_ = status;
    body_ = std::move(body);
    headers_ = std::move(headers);
  }
  // Registers every executor, and sends it to this URL. `more` are further members of the answer.
  void SendTo(std::string_view url, std::string_view more = "") {
    Answer(200, fmt::format(R"({{"id":"reg-1","executor_id":"exec-1","url":"{}"{}}})", url, more));
  }
  void SendDirectlyTo(std::string_view url) {
    Answer(200, fmt::format(R"({{"environment_id":"env-1","transport":"direct_jsonrpc_v1","registration_id":"reg-1",)"
                            R"("url":"{}"}})",
                            url));
  }

  std::string url() const { return server_.Url(""); }
  std::string authority() const { return server_.Authority(); }
  std::vector<support::HttpArrival> arrivals() const { return server_.arrivals(); }
  bool AwaitArrivals(size_t count) const {
    return support::Eventually([&] { return arrivals().size() >= count; });
  }

 private:
  std::mutex mutex_;  // guards the three members below
  int status_ = 500;
  std::string body_, headers_;
  support::HttpServer server_{[this](const support::HttpArrival&, support::HttpPeer& peer) {
    const std::lock_guard lock(mutex_);
    peer.Answer(status_, body_, headers_);
  }};
};

}  // namespace holdfast::remote
