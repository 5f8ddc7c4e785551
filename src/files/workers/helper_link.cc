#include "files/workers/helper_link.h"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "base/file_uri.h"
#include "files/helper/protocol.h"
#include "files/operations/table.h"
#include "wire/encode.h"

namespace holdfast::files {
namespace {

// The bound on an answer of a file helper. No answer is as long: the longest are a directory of 50 000 entries, and a
// walk with 4 MiB of paths.
constexpr size_t kMaxAnswerBytes = 256 << 20;

}  // namespace

HelperLink::HelperLink(OwnedFd socket) : socket_(std::move(socket)), channel_(socket_.get(), kMaxAnswerBytes) {}

bool HelperLink::IsQuiet() const {
  char byte;
  return ::recv(socket_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == EINTR);
}

Result<Channel::Line> HelperLink::Exchange(std::string_view operation, std::string_view params_json) {
  constexpr const char* ended = "the sandbox's file helper has ended";
  if (!channel_.Send(Request(operation, params_json))) return Broken(ended);
  auto line = channel_.Receive();
  if (line && *line) return **std::move(line);
  const bool too_long = !line && line.error().kind == ErrorKind::kLimit;
  return Broken(too_long ? line.error().message : ended);
}

Result<std::string_view> HelperLink::Response(std::string_view operation, const Channel::Line& line) {
  if (line.text == kStale) {
    stale_ = true;
    return Broken("file helper: a path that the policy protects has changed since the sandbox was made; try again");
  }
  auto response = ReadAnswer(operation, line.text);
  if (!response && response.error().kind == ErrorKind::kInternal) return Broken(response.error().message);
  return response;
}

Result<> HelperLink::Call(std::string_view operation, std::string_view params_json, std::string& json) {
  TRY(const Channel::Line line, Exchange(operation, params_json));
  TRY(const std::string_view response, Response(operation, line));
  json += response;
  return {};
}

Result<File> HelperLink::Open(const wire::FsOpenFileParams& params) {
  constexpr std::string_view open = kOpen.method;
  TRY(Channel::Line line, Exchange(open, wire::Encode(params)));
  TRY_VOID(Response(open, line));
  if (!line.fd.is_open()) return Broken("file helper: the answer came without the open file");
  TRY(std::string path, ParsePath(params.path));
  return File::Adopt(std::move(line.fd), std::move(path));
}

std::unexpected<Error> HelperLink::Broken(std::string message) {
  broken_ = true;
  return Fail(ErrorKind::kSystem, std::move(message));
}

}  // namespace holdfast::files
