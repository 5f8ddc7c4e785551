#include "rendezvous/metrics.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string_view>

#include <fmt/format.h>

namespace holdfast::rendezvous {
namespace {

constexpr std::string_view kPrefix = "holdfast_rendezvous_";
constexpr std::array<std::string_view, 3> kJoinNames = {"local", "executor_elsewhere", "client_elsewhere"};

// A writer of the lines of one metric after the other.
class Text {
 public:
  void Begin(std::string_view name, std::string_view type, std::string_view help) {
    name_ = fmt::format("{}{}", kPrefix, name);
    fmt::format_to(std::back_inserter(out_), "# HELP {0} {2}\n# TYPE {0} {1}\n", name_, type, help);
  }
  void Line(std::string_view labels, auto value, std::string_view suffix = "") {
    fmt::format_to(std::back_inserter(out_), "{}{}{} {}\n", name_, suffix, labels, value);
  }
  void Single(std::string_view name, std::string_view type, std::string_view help, auto value) {
    Begin(name, type, help);
    Line("", value);
  }
  std::string Take() { return std::move(out_); }

 private:
  std::string name_, out_;
};

}  // namespace

void Metrics::CountWait(std::chrono::duration<double> wait) {
  const auto* const bound = std::ranges::lower_bound(kWaitBounds, wait.count());
  ++waits_.at(static_cast<size_t>(bound - kWaitBounds.begin()));
  waited_seconds_ += wait.count();
}

std::string Metrics::Text(const Gauges& gauges) const {
  rendezvous::Text text;
  text.Begin("connections", "gauge", "Open WebSocket connections to this node.");
  text.Line(R"({role="executor"})", gauges.executor_connections);
  text.Line(R"({role="client"})", gauges.client_connections);
  text.Single("executors", "gauge", "Executors with a connection to this node.", gauges.executors);
  text.Single("waiting_connections", "gauge", "Connections of executors that wait for a client.",
              gauges.waiting_executors);
  text.Single("waiting_clients", "gauge", "Clients that wait for a connection of their executor.",
              gauges.waiting_clients);
  text.Single("pairs", "gauge", "Joined pairs of a client and an executor.", gauges.pairs);
  text.Single("bus_connected", "gauge", "1 while the bus to the other nodes is connected.",
              gauges.bus_connected ? 1 : 0);
  text.Single("relayed_bytes_total", "counter", "Bytes that were relayed, in both directions.", gauges.relayed_bytes);
  text.Single("registrations_total", "counter", "Registrations of executors.", registrations_);
  text.Begin("joins_total", "counter", "Clients that were joined to an executor.");
  for (size_t i = 0; i < joins_.size(); ++i) text.Line(fmt::format(R"({{place="{}"}})", kJoinNames[i]), joins_[i]);
  text.Begin("refusals_total", "counter", "Requests that were refused.");
  for (size_t i = 0; i < refusals_.size(); ++i) {
    text.Line(fmt::format(R"({{reason="{}"}})", CodeOf(static_cast<Refusal>(i))), refusals_[i]);
  }
  text.Begin("wait_seconds", "histogram", "Time that clients waited for a connection of their executor.");
  uint64_t sum = 0;
  for (size_t i = 0; i < kWaitBounds.size(); ++i) {
    text.Line(fmt::format(R"({{le="{}"}})", kWaitBounds[i]), sum += waits_[i], "_bucket");
  }
  text.Line(R"({le="+Inf"})", sum += waits_.back(), "_bucket");
  text.Line("", waited_seconds_, "_sum");
  text.Line("", sum, "_count");
  return text.Take();
}

}  // namespace holdfast::rendezvous
