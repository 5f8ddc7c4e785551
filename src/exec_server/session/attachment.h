// An attachment is everything that a connection has under way or open in its session and that ends with the connection.
#pragma once

#include <string>

#include "exec_server/files/file_session.h"
#include "exec_server/http/http_exchanges.h"
#include "exec_server/link/client_link.h"
#include "loop/worker_pool.h"
#include "rpc/transport.h"

namespace holdfast::exec_server {

class Attachment {
 public:
  Attachment(loop::WorkerPool& workers, rpc::Transport& transport, const ClientTraits& client,
             const std::string& session_id)
      : files_(workers, transport, client, session_id), exchanges_(transport, client) {}
  Attachment(const Attachment&) = delete;
  Attachment& operator=(const Attachment&) = delete;

  FileSession& files() { return files_; }
  HttpExchanges& exchanges() { return exchanges_; }

  // The transport has room again.
  void OnDrained() {
    files_.OnDrained();
    exchanges_.ResumeAll();
  }

 private:
  FileSession files_;
  HttpExchanges exchanges_;
};

}  // namespace holdfast::exec_server
