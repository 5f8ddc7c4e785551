// The fixture has a client on a loop of the test's own, and an observer that records what it is told.
#pragma once

#include <csignal>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "http/client.h"
#include "http/request.h"
#include "loop/event_loop.h"
#include "loop/worker_pool.h"
#include "support/http_server.h"
#include "support/loop_runner.h"

namespace holdfast::http {

// An Asked is an exchange together with everything that its observer was told.
class Asked final : public ExchangeObserver {
 public:
  void OnResponse(Response r) override {
    EXPECT_FALSE(response || outcome);
    response = std::move(r);
    if (on_response) on_response();
  }
  void OnBody(std::string_view bytes) override {
    EXPECT_TRUE(response && !outcome && !bytes.empty());
    body_bytes += bytes.size();
    if (keeps_body) body += bytes;
    if (on_body) on_body();
  }
  void OnEnd(const Result<>& o) override {
    EXPECT_FALSE(outcome);
    outcome = o;
    if (on_end) on_end();
  }

  bool succeeded() const { return outcome.has_value() && outcome->has_value(); }
  std::string error() const { return outcome && !*outcome ? outcome->error().message : ""; }
  std::optional<std::string> Header(std::string_view name) const {
    for (const auto& header : response.value_or(Response()).headers) {
      if (header.name == name) return header.value;
    }
    return std::nullopt;
  }

  std::optional<Response> response;
  std::string body;
  size_t body_bytes = 0;
  std::optional<Result<>> outcome;
  bool keeps_body = true;
  std::function<void()> on_response, on_body, on_end;
  std::unique_ptr<Exchange> exchange;
};

class ClientFixture : public testing::Test {
 protected:
  ClientFixture() {
    ::signal(SIGPIPE, SIG_IGN);  // as the server does
    for (const char* name : {"http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY",
                             "no_proxy", "NO_PROXY", "REQUEST_METHOD", "SSL_CERT_FILE", "SSL_CERT_DIR"}) {
      ::unsetenv(name);
    }
  }

  static Request Get(std::string url) { return {.method = "GET", .url = std::move(url)}; }

  std::unique_ptr<Asked> Start(Request request) {
    const auto checked = CheckRequest(request);
    EXPECT_TRUE(checked) << checked.error().message;
    auto asked = std::make_unique<Asked>();
    if (checked) asked->exchange = client_->Start(std::move(request), *asked);
    EXPECT_FALSE(asked->response || asked->outcome);
    return asked;
  }

  bool Await(const Asked& asked) {
    return support::RunUntil(loop_, [&] { return asked.outcome.has_value(); });
  }

  // Makes a request and waits for its end.
  std::unique_ptr<Asked> Ask(Request request) {
    auto asked = Start(std::move(request));
    EXPECT_TRUE(Await(*asked));
    return asked;
  }

  void Restart(ClientOptions options) {
    client_.reset();
    client_.emplace(loop_, workers_, std::move(options));
  }

  loop::EventLoop loop_;
  loop::WorkerPool workers_{loop_, {.name = "http-test"}};
  std::optional<Client> client_{std::in_place, loop_, workers_};
};

}  // namespace holdfast::http
