#include "exec_policy/store/read_text.h"

#include "exec_policy/starlark/limits.h"
#include "sys/read_to_end.h"

namespace holdfast::exec_policy {

Result<std::string> ReadText(int fd, const std::string& path) { return sys::ReadToEnd(fd, Limits{}.text_bytes, path); }

}  // namespace holdfast::exec_policy
