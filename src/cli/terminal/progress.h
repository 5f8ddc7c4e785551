// The line that shows how far a copy has got, with its rate and the time that is left. It is drawn on a terminal only,
// at most ten times a second.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::cli {

struct ProgressState {
  std::string_view name;               // of the file that is copied at the moment
  uint64_t bytes = 0;                  // copied so far
  std::optional<uint64_t> total = {};  // if it is known
  std::chrono::milliseconds elapsed{0};
  uint64_t file = 0, files = 0;  // the number of this file, and how many there are; shown if there are many
};

// Returns the line, at most `width` columns wide.
std::string ProgressLine(const ProgressState& state, size_t width);

class ProgressBar {
 public:
  using Clock = std::chrono::steady_clock;

  // Draws on `fd`, and nothing if that is not a terminal.
  explicit ProgressBar(int fd);
  ~ProgressBar();  // removes the line
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  struct Total {
    uint64_t bytes = 0, files = 0;
  };
  void SetTotal(Total total) { total_ = total; }
  void Begin(std::string name);  // the next file
  void Add(uint64_t bytes);
  void Clear();  // removes the line; more progress draws it again

 private:
  void DrawIfDue();
  void Draw(Clock::time_point now);
  void Write(std::string_view text) const;

  int fd_;
  bool shown_, drawn_ = false;
  std::string name_;
  uint64_t bytes_ = 0, file_ = 0;
  std::optional<Total> total_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = {};
};

}  // namespace holdfast::cli
