#include "client/child_dialer.h"

#include <utility>

#include "transport/dial.h"

namespace holdfast::client {
namespace {

class ChildDialer final : public Dialer {
 public:
  ChildDialer(loop::EventLoop& loop, std::vector<std::string> argv) : loop_(loop), argv_(std::move(argv)) {}

  loop::Task<Result<std::shared_ptr<rpc::Transport>>> Dial() override {
    started_ = true;
    co_return transport::DialChild(loop_, {.argv = argv_});
  }
  std::optional<Error> exhausted() const override {
    if (!started_) return std::nullopt;
    return Error{ErrorKind::kDisconnected, "the session is lost: the server has exited"};
  }

 private:
  loop::EventLoop& loop_;
  const std::vector<std::string> argv_;
  bool started_ = false;
};

}  // namespace

std::unique_ptr<Dialer> MakeChildDialer(loop::EventLoop& loop, std::vector<std::string> argv) {
  return std::make_unique<ChildDialer>(loop, std::move(argv));
}

}  // namespace holdfast::client
