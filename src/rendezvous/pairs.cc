#include "rendezvous/pairs.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace holdfast::rendezvous {

void Pairs::Join(std::string executor_id, PairSide executor, PairSide client) {
  const auto pair = pairs_.insert(
      pairs_.end(),
      {.executor_id = std::move(executor_id), .executor = std::move(executor), .client = std::move(client)});
  pair->silence = std::make_unique<loop::Timer>(loop_, [this, pair] { OnSilence(pair); });
  pair->silence->Start(silence_);
  pair->splice = std::make_unique<Splice>(pair->executor.pipe, pair->client.pipe, [this, pair] { End(pair); });
}

void Pairs::EndIf(const std::function<bool(const Pair&)>& ends) {
  for (auto next = pairs_.begin(); next != pairs_.end();) {
    const auto pair = next++;
    if (ends(*pair)) End(pair);
  }
}

size_t Pairs::CountIf(const std::function<bool(const Pair&)>& counts) const {
  return static_cast<size_t>(std::ranges::count_if(pairs_, counts));
}

uint64_t Pairs::relayed_bytes() const {
  uint64_t bytes = bytes_of_ended_;
  for (const Pair& pair : pairs_) bytes += pair.splice->bytes();
  return bytes;
}

void Pairs::OnSilence(List::iterator pair) {
  if (pair->splice->bytes() > 0 && pair->executor.pipe->has_sent_message()) return pair->silence.reset();
  LogWarn("client.silent", {{"executor", pair->executor_id}});
  End(pair);
}

void Pairs::End(List::iterator pair) {
  bytes_of_ended_ += pair->splice->bytes();
  List ended;
  ended.splice(ended.end(), pairs_, pair);
  on_ended_(ended.front());
}

}  // namespace holdfast::rendezvous
