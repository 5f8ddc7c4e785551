#include "doctor/surroundings.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "sandbox/plan/program_names.h"

namespace holdfast::doctor {

Surroundings OwnSurroundings() {
  std::error_code unknown;  // if the path is unknown it is empty, and the examination finds no programs
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", unknown).string();
  const char* path = std::getenv("PATH");
  return {.program = program,
          .sandbox_program = DirectoryOf(program) + "/" + sandbox::kProgramName,
          .path_variable = path != nullptr ? path : "",
          .cwd = std::filesystem::current_path(unknown).string()};
}

std::string DirectoryOf(const std::string& program) { return std::filesystem::path(program).parent_path().string(); }

}  // namespace holdfast::doctor
