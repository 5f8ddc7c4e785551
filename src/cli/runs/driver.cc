#include "cli/runs/driver.h"

#include <utility>

#include "wire/methods.h"

namespace holdfast::cli {

Driver::Driver(client::ExecServerClient& client, std::shared_ptr<client::Process> process)
    : client_(client), process_(std::move(process)) {
  client_.session().set_notification_sink([this](const rpc::Notification& notification) {
    if (notification.method == wire::SessionRoleChanged::kName) observes_ = true;
  });
}

Driver::~Driver() { client_.session().set_notification_sink({}); }

loop::Task<Result<>> Driver::TakeOver() {
  if (!std::exchange(observes_, false)) co_return Result<>();
  auto taken = co_await client_.Call<wire::SessionTakeOver>({});
  if (!taken) co_return std::unexpected(std::move(taken).error());
  co_return Result<>();
}

loop::Task<Result<>> Driver::Write(std::string bytes) {
  auto driving = co_await TakeOver();
  if (!driving) co_return driving;
  co_return co_await process_->Write(std::move(bytes));
}

loop::Task<Result<>> Driver::CloseStdin() {
  auto driving = co_await TakeOver();
  if (!driving) co_return driving;
  co_return co_await process_->CloseStdin();
}

loop::Task<Result<>> Driver::Resize(client::TerminalSize size) {
  auto driving = co_await TakeOver();
  if (!driving) co_return driving;
  co_return co_await process_->Resize(size);
}

loop::Task<Result<>> Driver::Signal(std::string name) {
  auto driving = co_await TakeOver();
  if (!driving) co_return driving;
  co_return co_await process_->Signal(std::move(name));
}

loop::Task<Result<>> Driver::Terminate(std::chrono::milliseconds grace) {
  auto driving = co_await TakeOver();
  if (!driving) co_return driving;
  auto terminated = co_await process_->Terminate(grace);
  if (!terminated) co_return std::unexpected(std::move(terminated).error());
  co_return Result<>();
}

loop::Task<Result<>> Driver::Keep() {
  auto driving = co_await TakeOver();
  if (!driving) co_return driving;
  auto kept = co_await client_.Call<wire::SessionKeep>({});
  if (!kept) co_return std::unexpected(std::move(kept).error());
  co_return Result<>();
}

}  // namespace holdfast::cli
