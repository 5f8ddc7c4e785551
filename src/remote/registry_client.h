// A RegistryClient registers this process with the service that assigns it a rendezvous.
#pragma once

#include <expected>
#include <string>

#include "http/client.h"
#include "loop/event_loop.h"
#include "loop/task.h"
#include "loop/worker_pool.h"
#include "remote/registrant.h"
#include "remote/registration.h"
#include "remote/token.h"

namespace holdfast::remote {

class RegistryClient {
 public:
  // `registrant` has been checked. `ca_file` may be empty.
  RegistryClient(loop::EventLoop& loop, Registrant registrant, TokenSource token, std::string ca_file);

  // Reads the token and sends the request. There is no time limit for the answer.
  loop::Task<std::expected<Registration, RegistryFailure>> Register();

 private:
  const Registrant registrant_;
  const TokenSource token_;
  const std::string ca_file_;
  const ProcessUuid uuid_ = RandomProcessUuid();
  loop::WorkerPool workers_;  // reads the token's file and loads the HTTP library
  http::Client client_;
};

}  // namespace holdfast::remote
