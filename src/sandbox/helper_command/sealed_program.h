// A program as it was when it was opened, in sealed memory. The copy is made on a thread of its own, because it takes
// as long as a third of the start of a server, which can answer its first client meanwhile.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/owned_fd.h"
#include "base/result.h"

namespace holdfast::sandbox {

class SealedProgram {
 public:
  using Image = Result<std::shared_ptr<const OwnedFd>>;

  // Opens the program and begins to copy it. Another file that is put in its place later changes nothing. A change of
  // the file itself does until the copy is made, so the caller waits for it before anything may happen that could make
  // one.
  static SealedProgram Begin(const std::string& path);

  // An image that is there already, or the reason why there is none.
  explicit SealedProgram(Image image);

  // Waits for the end of the copy, and returns the image.
  const Image& Await() const;

 private:
  struct Copy;

  explicit SealedProgram(std::shared_ptr<Copy> copy) : copy_(std::move(copy)) {}

  std::shared_ptr<Copy> copy_;
};

}  // namespace holdfast::sandbox
