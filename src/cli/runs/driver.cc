#include "cli/runs/driver.h"

#include <utility>

#include "wire/methods.h"

namespace holdfast::cli {

loop::Task<Result<>> Driver::TakeOver() {
  if (client_.role() != wire::SessionRole::kObserver) co_return Result<>();
  co_return co_await client_.TakeOver();
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
