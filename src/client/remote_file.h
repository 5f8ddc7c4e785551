// A file on the server, by its name.
#pragma once

#include <memory>
#include <string>

namespace holdfast::client {

class Session;

struct RemoteFile {
  std::shared_ptr<Session> session;
  std::string path;     // absolute
  std::string sandbox;  // JSON of the `sandbox` member; empty: no sandbox
};

}  // namespace holdfast::client
