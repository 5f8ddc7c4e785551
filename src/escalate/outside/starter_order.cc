#include "escalate/outside/starter_order.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

#include "escalate/stub/protocol.h"

namespace holdfast::escalate {
namespace {

// A text of the starter's order, which consists of bytes.
class Bytes {
 public:
  void AddRaw(const void* bytes, size_t size) { text_.append(static_cast<const char*>(bytes), size); }

  Result<> AddString(std::string_view string) {
    if (string.contains('\0')) return Fail(ErrorKind::kInvalidRequest, "a text of the command contains a NUL byte");
    text_.append(string).push_back('\0');
    return {};
  }

  Result<> AddStrings(std::span<const std::string> strings) {
    for (const std::string& string : strings) TRY_VOID(AddString(string));
    return {};
  }

  size_t size() const { return text_.size(); }
  void Write(size_t at, const StarterOrder& header) { std::memcpy(text_.data() + at, &header, sizeof header); }
  std::string Take() && { return std::move(text_); }

 private:
  std::string text_;
};

static_assert(RLIM_NLIMITS <= kMaxLimits);

void AddLimits(std::span<const rlimit> limits, StarterOrder& header) {
  for (const rlimit& limit : limits.first(std::min<size_t>(limits.size(), kMaxLimits))) {
    header.limits[header.limit_count++] = {.soft = limit.rlim_cur, .hard = limit.rlim_max};
  }
}

}  // namespace

Result<std::string> EncodeStarterOrder(const OutsideOrder& order) {
  StarterOrder header{.state = order.state,
                      .fd_count = static_cast<unsigned>(order.fds.size()),
                      .limit_count = 0,
                      .limits = {},
                      .image = {.argument_count = static_cast<unsigned>(order.argv.size()),
                                .variable_count = static_cast<unsigned>(order.environment.size()),
                                .bytes = 0}};
  AddLimits(order.limits, header);
  Bytes bytes;
  bytes.AddRaw(&header, sizeof header);
  for (const PassedFd& passed : order.fds) bytes.AddRaw(&passed.number, sizeof passed.number);
  const size_t image_begin = bytes.size();
  TRY_VOID(bytes.AddString(order.path));
  TRY_VOID(bytes.AddStrings(order.argv));
  TRY_VOID(bytes.AddStrings(order.environment));
  header.image.bytes = bytes.size() - image_begin;
  bytes.Write(0, header);
  return std::move(bytes).Take();
}

}  // namespace holdfast::escalate
