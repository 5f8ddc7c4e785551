// The handle is of a file that does not exist, so the kernel answers ESTALE.
#include <fcntl.h>

#include "sandboxee.h"

int main(int, char** argv) {
  alignas(file_handle) char buffer[sizeof(file_handle) + MAX_HANDLE_SZ] = {};
  auto* handle = reinterpret_cast<file_handle*>(buffer);
  handle->handle_bytes = 8;
  handle->handle_type = 1;
  const int directory = ::open(Word(argv, 1), O_RDONLY | O_CLOEXEC);
  if (directory < 0) GiveUp(argv[1]);
  return JudgeReached(::open_by_handle_at(directory, handle, O_RDONLY), ESTALE);
}
