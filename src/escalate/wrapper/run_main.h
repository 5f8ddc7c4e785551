// The whole program `holdfast-execve-wrapper`. A patched shell executes it in the place of each program, with the path
// of the program and its arguments.
#pragma once

namespace holdfast::escalate {

int RunWrapper(int argc, char** argv);

}  // namespace holdfast::escalate
