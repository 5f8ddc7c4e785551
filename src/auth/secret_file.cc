#include "auth/secret_file.h"

#include <sys/stat.h>

#include <string_view>

#include <fmt/format.h>

#include "auth/guarded_file.h"

namespace holdfast::auth {
namespace {

constexpr size_t kMaxFileBytes = 16u << 10;  // more than the head of a request can have
constexpr std::string_view kAround = " \t\r\n\v\f";

}  // namespace

Result<FileSecret> ReadSecretFile(const std::string& path) {
  TRY(const GuardedText file, ReadGuardedFile(path, kMaxFileBytes));
  const size_t begin = file.text.find_first_not_of(kAround);
  if (begin == std::string::npos) return Fail(ErrorKind::kInvalidParams, fmt::format("read {}: it is empty", path));
  return FileSecret{.text = file.text.substr(begin, file.text.find_last_not_of(kAround) + 1 - begin),
                    .is_readable_by_everyone = (file.mode & S_IROTH) != 0};
}

}  // namespace holdfast::auth
