#include "wire/notification.h"

#include <algorithm>
#include <charconv>

#include "base/base64.h"
#include "wire/methods.h"

namespace holdfast::wire {
namespace {

std::string_view Name(Stream stream) {
  switch (stream) {
    case Stream::kStdout:
      return R"(,"stream":"stdout","chunk":)";
    case Stream::kStderr:
      return R"(,"stream":"stderr","chunk":)";
    case Stream::kPty:
      return R"(,"stream":"pty","chunk":)";
  }
  return "";
}

std::string Begin(std::string_view method, size_t reserve) {
  std::string message;
  message.reserve(reserve + 128);
  message += R"({"method":")";
  message += method;
  message += R"(","params":{)";
  return message;
}

std::string Begin(std::string_view method, std::string_view quoted_id, size_t reserve) {
  std::string message = Begin(method, reserve + quoted_id.size());
  message += R"("processId":)";
  message += quoted_id;
  return message;
}

// A Scanner takes the parts of a message from its front.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool Skip(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  // Takes the text up to the next quote, if all of it stands for itself in JSON.
  std::optional<std::string_view> TakePlainText() {
    const std::string_view text = rest_.substr(0, rest_.find('"'));
    const auto is_plain = [](char c) { return c >= ' ' && c <= '~' && c != '\\'; };
    if (!std::ranges::all_of(text, is_plain)) return std::nullopt;
    rest_.remove_prefix(text.size());
    return text;
  }

  std::optional<uint64_t> TakeNumber() {
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    const bool has_leading_zero = rest_.starts_with('0') && end != rest_.data() + 1;
    if (error != std::errc() || has_leading_zero) return std::nullopt;
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return number;
  }

  std::optional<Stream> TakeStream() {
    for (const Stream stream : {Stream::kStdout, Stream::kStderr, Stream::kPty}) {
      if (Skip(Name(stream))) return stream;
    }
    return std::nullopt;
  }

  // Takes a string up to the `end` of the message.
  std::optional<std::string_view> TakeLastText(std::string_view end) {
    if (!rest_.ends_with(end)) return std::nullopt;
    rest_.remove_suffix(end.size());
    if (rest_.contains('"') || rest_.contains('\\')) return std::nullopt;
    return rest_;
  }

 private:
  std::string_view rest_;
};

}  // namespace

std::optional<OutputFrame> ReadOutputFrame(std::string_view message) {
  Scanner scanner(message);
  if (!scanner.Skip(R"({"method":")") || !scanner.Skip(ProcessOutput::kName)) return std::nullopt;
  if (!scanner.Skip(R"(","params":{"processId":")")) return std::nullopt;
  const auto process_id = scanner.TakePlainText();
  if (!process_id || !scanner.Skip(R"(","seq":)")) return std::nullopt;
  const auto seq = scanner.TakeNumber();
  if (!seq) return std::nullopt;
  const auto stream = scanner.TakeStream();
  if (!stream || !scanner.Skip("\"")) return std::nullopt;
  const auto chunk = scanner.TakeLastText(R"("}})");
  if (!chunk) return std::nullopt;
  return OutputFrame{*process_id, *seq, *stream, *chunk};
}

std::string OutputNotification(std::string_view quoted_id, uint64_t seq, Stream stream, std::string_view bytes) {
  std::string message = Begin(ProcessOutput::kName, quoted_id, Base64EncodedSize(bytes.size()));
  message += R"(,"seq":)";
  AppendUint(message, seq);
  message += Name(stream);
  AppendBase64(message, bytes);
  message += "}}";
  return message;
}

std::string ExitedNotification(std::string_view quoted_id, const Exit& exit) {
  std::string message = Begin(ProcessExited::kName, quoted_id, 0);
  message += R"(,"seq":)";
  AppendUint(message, exit.seq);
  message += R"(,"exitCode":)";
  AppendInt(message, exit.exit_code);
  message += exit.sandbox_denied ? R"(,"sandboxDenied":true)" : R"(,"sandboxDenied":false)";
  if (exit.end) message += R"(,"end":)" + Encode(*exit.end);
  message += "}}";
  return message;
}

std::string ClosedNotification(std::string_view quoted_id, uint64_t seq) {
  std::string message = Begin(ProcessClosed::kName, quoted_id, 0);
  message += R"(,"seq":)";
  AppendUint(message, seq);
  message += "}}";
  return message;
}

std::string StartedNotification(std::string_view quoted_id, int64_t pid) {
  std::string message = Begin(ProcessStarted::kName, quoted_id, 0);
  message += R"(,"pid":)";
  AppendInt(message, pid);
  message += "}}";
  return message;
}

std::string FailedNotification(std::string_view quoted_id, std::string_view reason) {
  std::string message = Begin(ProcessFailed::kName, quoted_id, reason.size());
  message += R"(,"message":)";
  AppendString(message, reason);
  message += "}}";
  return message;
}

std::string MissingChangedNotification(uint64_t watch_id) {
  std::string message = Begin(FsMissingChanged::kName, 0);
  message += R"("watchId":)";
  AppendUint(message, watch_id);
  message += "}}";
  return message;
}

std::string BodyDeltaNotification(std::string_view request_id, uint64_t seq, std::string_view bytes, BodyPart part,
                                  const std::optional<std::string>& error) {
  std::string message = Begin(HttpBodyDelta::kName, request_id.size() + Base64EncodedSize(bytes.size()));
  message += R"("requestId":)";
  AppendString(message, request_id);
  message += R"(,"seq":)";
  AppendUint(message, seq);
  message += R"(,"deltaBase64":)";
  AppendBase64(message, bytes);
  message += part == BodyPart::kLast ? R"(,"done":true,"error":)" : R"(,"done":false,"error":)";
  if (error) {
    AppendString(message, *error);
  } else {
    message += "null";
  }
  message += "}}";
  return message;
}

}  // namespace holdfast::wire
