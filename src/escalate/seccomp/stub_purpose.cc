#include "escalate/seccomp/stub_purpose.h"

#include <algorithm>

#include "escalate/stub/protocol.h"
#include "exec_policy/denial_text.h"

namespace holdfast::escalate {
namespace {

constexpr size_t kPerString = sizeof(std::string);

size_t BytesOf(std::span<const std::string> strings) {
  size_t bytes = 0;
  for (const std::string& text : strings) bytes += kPerString + text.size();
  return bytes;
}

struct HeldBytesOf {
  size_t operator()(const RunAsJudged& run) const {
    return run.image.size() + (run.doubted ? run.doubted->held_bytes() : 0);
  }
  size_t operator()(const Refuse& refuse) const { return refuse.text.size(); }
  size_t operator()(const StandIn& stand_in) const {
    return BytesOf(stand_in.order.argv) + BytesOf(stand_in.order.environment);
  }
};

// Returns the text with a newline, cut off where an order has no more room.
std::string LineOf(std::string text) {
  text.resize(std::min<size_t>(text.size(), kMaxTextBytes - 1));
  return text + '\n';
}

}  // namespace

std::string MakeImage(const std::string& path, std::span<const std::string> argv,
                      std::span<const std::string> environment) {
  std::string strings = path + '\0';
  for (const auto words : {argv, environment}) {
    for (const std::string& word : words) strings.append(word).push_back('\0');
  }
  const Image header = {.argument_count = static_cast<unsigned>(argv.size()),
                        .variable_count = static_cast<unsigned>(environment.size()),
                        .bytes = strings.size()};
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + strings;
}

Refuse MakeRefusal(const std::string& reason) { return {.text = LineOf(exec_policy::DenialText(reason))}; }

std::string MakeComplaint(const std::string& reason) { return LineOf("holdfast: " + reason); }

size_t HeldBytes(const StubPurpose& purpose) { return std::visit(HeldBytesOf(), purpose); }

}  // namespace holdfast::escalate
