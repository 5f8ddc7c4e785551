// Reading of records (base/record.h). It is strict: bytes are accepted only if they are exactly those that writing
// makes of a valid value.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/result.h"

namespace holdfast {

constexpr ErrorKind LastOf(ErrorKind) { return ErrorKind::kCannotExecute; }

inline constexpr size_t kMaxRecordBytes = size_t{16} << 20;

// After the first error the reader stays in the error state and reads only empty values, so that one look at the end is
// enough.
class RecordReader {
 public:
  explicit RecordReader(std::string_view bytes) : left_(bytes) {}

  void operator()(auto&... members) { (Get(members), ...); }

  // Returns whether all bytes were read, and every value was valid.
  bool IsComplete() const { return good_ && left_.empty(); }

 private:
  template <std::integral T>
  void Get(T& value) {
    std::conditional_t<sizeof(T) <= 4, uint32_t, uint64_t> wide = 0;
    const std::string_view bytes = Take(sizeof wide);
    if (!bytes.empty()) std::memcpy(&wide, bytes.data(), sizeof wide);
    value = static_cast<T>(wide);
    Expect(static_cast<decltype(wide)>(value) == wide);
  }
  template <typename T>
    requires std::is_enum_v<T>
  void Get(T& value) {
    const auto number = Number(static_cast<uint32_t>(LastOf(T{})));
    value = static_cast<T>(number);
  }
  void Get(std::string& text) {
    text = Take(Number(kMaxRecordBytes));
    Expect(!text.contains('\0'));
  }
  template <typename T>
  void Get(std::optional<T>& value) {
    bool is_there = false;
    Get(is_there);
    if (is_there) Get(value.emplace());
  }
  // Each element takes at least four bytes, so that a small input cannot claim many.
  template <typename T>
  void Get(std::vector<T>& values) {
    for (uint32_t left = Number(left_.size() / 4); good_ && left > 0; --left) Get(values.emplace_back());
  }
  template <typename T, size_t N>
  void Get(std::array<T, N>& values) {
    for (T& value : values) Get(value);
  }
  template <typename... T>
  void Get(std::variant<T...>& value) {
    const uint32_t index = Number(sizeof...(T) - 1);
    uint32_t at = 0;
    ((at++ == index ? Get(value.template emplace<T>()) : void()), ...);
  }
  template <typename T>
    requires std::is_class_v<T>
  void Get(T& value) {
    if constexpr (!std::is_empty_v<T>) value.Fields(*this);
    if constexpr (requires { value.IsValid(); }) Expect(!good_ || value.IsValid());
  }

  uint32_t Number(size_t max) {
    uint32_t number = 0;
    Get(number);
    Expect(number <= max);
    return good_ ? number : 0;
  }
  std::string_view Take(size_t size) {
    Expect(size <= left_.size());
    if (!good_) return {};
    const std::string_view bytes = left_.substr(0, size);
    left_.remove_prefix(size);
    return bytes;
  }
  void Expect(bool holds) { good_ = good_ && holds; }

  std::string_view left_;
  bool good_ = true;
};

template <typename T>
Result<T> DecodeRecord(std::string_view bytes) {
  const std::string name(T::kRecord.substr(0, T::kRecord.find(' ')));
  if (bytes.size() > kMaxRecordBytes) return Fail(ErrorKind::kLimit, name + ": too long");
  if (!bytes.starts_with(T::kRecord)) return Fail(ErrorKind::kInvalidParams, name + ": of another version of holdfast");
  RecordReader reader(bytes.substr(T::kRecord.size()));
  T value;
  reader(value);
  if (!reader.IsComplete()) return Fail(ErrorKind::kInvalidParams, name + ": damaged");
  return value;
}

}  // namespace holdfast
