#include "exec_policy/store/read_text.h"

#include "starlark/budget.h"
#include "sys/read_to_end.h"

namespace holdfast::exec_policy {

Result<std::string> ReadText(int fd, const std::string& path) {
  return sys::ReadToEnd(fd, starlark::Limits{}.text_bytes, path);
}

}  // namespace holdfast::exec_policy
