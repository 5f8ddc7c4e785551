#include "exec_server/session/session.h"

#include <memory>
#include <utility>

namespace holdfast::exec_server {

Session::Session(SessionResources& resources, std::string id)
    : resources_(resources),
      id_(std::move(id)),
      processes_(std::make_shared<SessionProcesses>(resources.processes, link_, id_)) {}

void Session::Attach(rpc::Transport& transport, const ClientTraits& client) {
  link_ = ClientLink(transport, client);
  attachment_.emplace(resources_.workers, transport, client, id_);
}

void Session::Detach() {
  link_ = {};
  attachment_.reset();
  processes_->OnDetached();
}

void Session::OnDrained() {
  processes_->ResumeOutput();
  attachment_->OnDrained();
}

void Session::End(std::chrono::milliseconds grace, loop::Callback done) {
  // The processes and the file helpers end independently; the later of the two calls `done`.
  auto answer = std::make_shared<loop::Callback>(std::move(done));
  auto when_both_ended = [&loop = resources_.loop, answer, left = std::make_shared<int>(2)] {
    if (--*left == 0) loop.Post(std::move(*answer));
  };
  processes_->End(grace, when_both_ended);
  resources_.file_helpers.End(id_, when_both_ended);
}

}  // namespace holdfast::exec_server
