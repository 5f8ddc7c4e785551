#include "exec_server/helper_link.h"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "base/file_uri.h"
#include "fs_helper/protocol.h"
#include "wire/encode.h"

namespace holdfast::exec_server {
namespace {

// Longer than any answer: a directory of 50 000 entries, a walk of 4 MiB of paths.
constexpr size_t kMaxAnswerBytes = 256 << 20;

}  // namespace

HelperLink::HelperLink(OwnedFd socket) : socket_(std::move(socket)), channel_(socket_.get(), kMaxAnswerBytes) {}

bool HelperLink::IsQuiet() const {
  char byte;
  return ::recv(socket_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == EINTR);
}

Result<fs_helper::Channel::Line> HelperLink::Exchange(std::string_view operation, std::string_view params_json) {
  constexpr const char* ended = "the sandbox's file helper has ended";
  if (!channel_.Send(fs_helper::Request(operation, params_json))) return Broken(ended);
  auto line = channel_.Receive();
  if (line && *line) return **std::move(line);
  const bool too_long = !line && line.error().kind == ErrorKind::kLimit;
  return Broken(too_long ? line.error().message : ended);
}

Result<std::string_view> HelperLink::Response(std::string_view operation, const fs_helper::Channel::Line& line) {
  if (line.text == fs_helper::kStale) {
    stale_ = true;
    return Broken("file helper: a path that the policy protects was created or removed meanwhile; try again");
  }
  auto response = fs_helper::ReadAnswer(operation, line.text);
  if (!response && response.error().kind == ErrorKind::kInternal) return Broken(response.error().message);
  return response;
}

Result<> HelperLink::Call(std::string_view operation, std::string_view params_json, std::string& json) {
  TRY(const fs_helper::Channel::Line line, Exchange(operation, params_json));
  TRY(const std::string_view response, Response(operation, line));
  json += response;
  return {};
}

Result<fs::File> HelperLink::Open(const wire::FsOpenFileParams& params) {
  constexpr std::string_view open = "fs/open";
  TRY(fs_helper::Channel::Line line, Exchange(open, wire::Encode(params)));
  TRY_VOID(Response(open, line));
  if (!line.fd.is_open()) return Broken("file helper: an open file did not arrive");
  TRY(std::string path, ParsePath(params.path));
  return fs::File::Adopt(std::move(line.fd), std::move(path));
}

std::unexpected<Error> HelperLink::Broken(std::string message) {
  broken_ = true;
  return Fail(ErrorKind::kSystem, std::move(message));
}

}  // namespace holdfast::exec_server
