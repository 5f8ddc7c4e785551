// The keeper program (apps/keeper) as an ELF image inside the server, so that no second file must be installed beside
// the server.
#pragma once

#include <cstddef>
#include <span>

namespace holdfast::process {

std::span<const std::byte> KeeperImage();

}  // namespace holdfast::process
