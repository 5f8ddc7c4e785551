#include "wire/notification.h"

#include "base/base64.h"

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

}  // namespace

std::string OutputNotification(std::string_view quoted_id, uint64_t seq, Stream stream, std::string_view bytes) {
  std::string message = Begin("process/output", quoted_id, Base64EncodedSize(bytes.size()));
  message += R"(,"seq":)";
  AppendUint(message, seq);
  message += Name(stream);
  AppendBase64(message, bytes);
  message += "}}";
  return message;
}

std::string ExitedNotification(std::string_view quoted_id, const Exit& exit) {
  std::string message = Begin("process/exited", quoted_id, 0);
  message += R"(,"seq":)";
  AppendUint(message, exit.seq);
  message += R"(,"exitCode":)";
  AppendInt(message, exit.exit_code);
  message += exit.sandbox_denied ? R"(,"sandboxDenied":true}})" : R"(,"sandboxDenied":false}})";
  return message;
}

std::string ClosedNotification(std::string_view quoted_id, uint64_t seq) {
  std::string message = Begin("process/closed", quoted_id, 0);
  message += R"(,"seq":)";
  AppendUint(message, seq);
  message += "}}";
  return message;
}

std::string StartedNotification(std::string_view quoted_id, int64_t pid) {
  std::string message = Begin("process/started", quoted_id, 0);
  message += R"(,"pid":)";
  AppendInt(message, pid);
  message += "}}";
  return message;
}

std::string FailedNotification(std::string_view quoted_id, std::string_view reason) {
  std::string message = Begin("process/failed", quoted_id, reason.size());
  message += R"(,"message":)";
  AppendString(message, reason);
  message += "}}";
  return message;
}

std::string MissingChangedNotification(uint64_t watch_id) {
  std::string message = Begin("fs/missingChanged", 0);
  message += R"("watchId":)";
  AppendUint(message, watch_id);
  message += "}}";
  return message;
}

std::string BodyDeltaNotification(std::string_view request_id, uint64_t seq, std::string_view bytes, BodyPart part,
                                  const std::optional<std::string>& error) {
  std::string message = Begin("http/request/bodyDelta", request_id.size() + Base64EncodedSize(bytes.size()));
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
