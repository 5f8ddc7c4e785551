#include "client/exec_server_client.h"

#include "client/start_process.h"
#include "client/url_dialer.h"

namespace holdfast::client {

loop::Task<Result<ExecServerClient>> ExecServerClient::Connect(loop::EventLoop& loop, ConnectOptions options) {
  auto dialer = MakeUrlDialer(loop, options);
  if (!dialer) co_return std::unexpected(std::move(dialer).error());
  co_return co_await ConnectBy(loop, *std::move(dialer), std::move(options));
}

loop::Task<Result<ExecServerClient>> ExecServerClient::ConnectBy(loop::EventLoop& loop, std::unique_ptr<Dialer> dialer,
                                                                 ConnectOptions options) {
  auto session = co_await Session::Open(loop, std::move(dialer), std::move(options));
  if (!session) co_return std::unexpected(std::move(session).error());
  co_return ExecServerClient(*std::move(session));
}

ExecServerClient& ExecServerClient::operator=(ExecServerClient&& other) noexcept {
  if (session_ && session_ != other.session_) session_->Close();
  session_ = std::move(other.session_);
  return *this;
}

ExecServerClient::~ExecServerClient() {
  if (session_) session_->Close();
}

loop::Task<Result<std::string>> ExecServerClient::CallText(std::string method, std::string params,
                                                           CallOptions options) {
  return session_->CallText(std::move(method), std::move(params), options);
}

loop::Task<Result<std::shared_ptr<Process>>> ExecServerClient::Start(StartOptions options) {
  return StartProcess(session_, std::move(options));
}

loop::Task<Result<std::shared_ptr<Process>>> ExecServerClient::Attach(std::string process_id, uint64_t after_seq,
                                                                      Backlog backlog) {
  return AttachProcess(session_, std::move(process_id), after_seq, backlog);
}

loop::Task<Result<>> ExecServerClient::TakeOver() { return session_->TakeOver(); }

loop::Task<> ExecServerClient::Close() {
  const auto session = session_;
  session->Close();
  co_await session->WaitForEnd();
}

}  // namespace holdfast::client
