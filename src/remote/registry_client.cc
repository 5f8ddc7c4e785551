#include "remote/registry_client.h"

#include <memory>
#include <optional>
#include <utility>

#include "base/log.h"
#include "http/exchange.h"
#include "loop/event.h"

namespace holdfast::remote {
namespace {

// An answer has a few hundred bytes.
constexpr size_t kMaxAnswerBytes = 1u << 20;

class AnswerCollector final : public http::ExchangeObserver {
 public:
  void OnResponse(http::Response response) override { answer.status = response.status; }
  void OnBody(std::string_view bytes) override {
    if (answer.body.size() + bytes.size() <= kMaxAnswerBytes) {
      answer.body += bytes;
    } else {
      too_long = true;
      OnEnd({});
    }
  }
  void OnEnd(const Result<>& end) override {
    outcome = end;
    ended.Notify();
  }

  RegistryAnswer answer;
  bool too_long = false;
  std::optional<Result<>> outcome;
  loop::Event ended;
};

}  // namespace

RegistryClient::RegistryClient(loop::EventLoop& loop, Registrant registrant, TokenSource token, std::string ca_file)
    : registrant_(std::move(registrant)),
      token_(std::move(token)),
      ca_file_(std::move(ca_file)),
      workers_(loop, {.name = "registry", .usual_workers = 1, .max_workers = 4}),
      client_(loop, workers_) {}

loop::Task<std::expected<Registration, RegistryFailure>> RegistryClient::Register() {
  const auto token = co_await workers_.Do([source = token_] { return ReadToken(source); });
  if (!token) co_return std::unexpected(Unauthenticated(registrant_.form, token.error().message));
  http::Request request = RegistrationRequest(registrant_, uuid_, *token);
  request.ca_file = ca_file_;
  AnswerCollector collector;
  const auto exchange = client_.Start(std::move(request), collector);
  while (!collector.outcome) co_await collector.ended.Next();
  if (collector.too_long) co_return std::unexpected(Undecodable(registrant_));
  if (!*collector.outcome) {
    LogWarn("registry.unreachable", {{"reason", collector.outcome->error().message}});
    co_return std::unexpected(Unreachable(registrant_));
  }
  co_return ReadAnswer(registrant_, collector.answer, *token);
}

}  // namespace holdfast::remote
