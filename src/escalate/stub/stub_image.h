// The stub (apps/exec_stub) as an ELF image inside the program of its supervisor.
#pragma once

#include <cstddef>
#include <span>

namespace holdfast::escalate {

std::span<const std::byte> StubImage();

}  // namespace holdfast::escalate
