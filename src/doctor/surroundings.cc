#include "doctor/surroundings.h"

#include <filesystem>
#include <system_error>

#include "base/environment_variable.h"
#include "sandbox/plan/program_names.h"
#include "sys/own_program.h"

namespace holdfast::doctor {

Surroundings OwnSurroundings() {
  std::error_code unknown;  // if a path is unknown it is empty, and the examination finds no programs
  const std::string program = sys::OwnProgram();
  return {.program = program,
          .sandbox_program = DirectoryOf(program) + "/" + sandbox::kProgramName,
          .path_variable = EnvironmentVariable("PATH").value_or(""),
          .cwd = std::filesystem::current_path(unknown).string()};
}

std::string DirectoryOf(const std::string& program) { return std::filesystem::path(program).parent_path().string(); }

}  // namespace holdfast::doctor
