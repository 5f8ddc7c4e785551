#include "sys/own_program.h"

#include "base/paths.h"
#include "sys/read_link.h"

namespace holdfast::sys {

std::string OwnProgram() { return ReadLink("/proc/self/exe").value_or(""); }

std::string OwnDirectory() {
  const std::string program = OwnProgram();
  return program.empty() ? program : std::string(ParentOf(program));
}

}  // namespace holdfast::sys
