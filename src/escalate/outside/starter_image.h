// The starter (apps/exec_starter) as an ELF image inside the program of the server.
#pragma once

#include <cstddef>
#include <span>

namespace holdfast::escalate {

std::span<const std::byte> StarterImage();

}  // namespace holdfast::escalate
