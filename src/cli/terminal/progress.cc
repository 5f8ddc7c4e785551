#include "cli/terminal/progress.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/shown_text.h"
#include "base/utf8.h"
#include "cli/terminal/screen.h"
#include "cli/text/byte_count.h"
#include "cli/text/duration.h"
#include "sys/io.h"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kInterval = 100ms;
constexpr size_t kBarWidth = 20, kShortestName = 8;

std::string Bar(double part) {
  const auto full = static_cast<size_t>(part * kBarWidth);
  return fmt::format("[{}{}] {:3.0f}%", std::string(full, '#'), std::string(kBarWidth - full, '.'), part * 100);
}

std::string RateText(uint64_t bytes, std::chrono::milliseconds elapsed) {
  if (elapsed < 1ms) return "";
  const double per_second = static_cast<double>(bytes) * 1000 / static_cast<double>(elapsed.count());
  return fmt::format("  {}/s", ByteCountText(static_cast<uint64_t>(per_second)));
}

std::string LeftText(const ProgressState& state) {
  if (!state.total || state.bytes == 0 || state.bytes >= *state.total || state.elapsed < 1s) return "";
  const double per_byte = static_cast<double>(state.elapsed.count()) / static_cast<double>(state.bytes);
  const auto left =
      std::chrono::milliseconds(static_cast<int64_t>(per_byte * static_cast<double>(*state.total - state.bytes)));
  return fmt::format("  {} left", DurationText(std::max<std::chrono::milliseconds>(left, 1s)));
}

// Returns the end of a long name, which is the part by which files differ. No character is split.
std::string Shortened(std::string_view name, size_t width) {
  if (name.size() <= width) return std::string(name);
  name.remove_prefix(name.size() - (width - 3));
  while (!name.empty() && Utf8Length(name) == 0) name.remove_prefix(1);
  return "..." + std::string(name);
}

}  // namespace

std::string ProgressLine(const ProgressState& state, size_t width) {
  std::string figures = "  " + ByteCountText(state.bytes);
  const std::string count = state.files > 1 ? fmt::format("  file {} of {}", state.file, state.files) : "";
  if (state.total) {
    const double part =
        *state.total == 0 ? 1 : std::min(1.0, static_cast<double>(state.bytes) / static_cast<double>(*state.total));
    figures = "  " + Bar(part) + figures + " of " + ByteCountText(*state.total);
  }
  figures = count + figures + RateText(state.bytes, state.elapsed) + LeftText(state);
  const size_t room = width > figures.size() + kShortestName ? width - figures.size() : kShortestName;
  const std::string line = (Shortened(ShownText(state.name), room) + figures).substr(0, width);
  return line.substr(0, line.size() - IncompleteTail(line));
}

ProgressBar::ProgressBar(int fd) : fd_(fd), shown_(IsTerminal(fd)) {}

ProgressBar::~ProgressBar() { Clear(); }

void ProgressBar::Clear() {
  if (drawn_) Write("\r\x1b[K");
  drawn_ = false;
}

void ProgressBar::Begin(std::string name) {
  name_ = std::move(name);
  ++file_;
  DrawIfDue();
}

void ProgressBar::Add(uint64_t bytes) {
  bytes_ += bytes;
  DrawIfDue();
}

void ProgressBar::DrawIfDue() {
  const auto now = Clock::now();
  if (shown_ && now - last_ >= kInterval) Draw(now);
}

void ProgressBar::Draw(Clock::time_point now) {
  last_ = now;
  drawn_ = true;
  const auto size = WindowSizeOf(fd_).value_or(sys::WindowSize());
  const ProgressState state{.name = name_,
                            .bytes = bytes_,
                            .total = total_ ? std::optional(total_->bytes) : std::nullopt,
                            .elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(now - start_),
                            .file = file_,
                            .files = total_ ? total_->files : 0};
  Write("\r" + ProgressLine(state, size.cols - 1u) + "\x1b[K");
}

// A failure is ignored: the line is only for the eye.
void ProgressBar::Write(std::string_view text) const { (void)sys::Write(fd_, text.data(), text.size()); }

}  // namespace holdfast::cli
