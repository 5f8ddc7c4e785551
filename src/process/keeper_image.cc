#include "process/keeper_image.h"

#include "base/embedded_image.h"

HOLDFAST_EMBED_IMAGE(keeper_image);

namespace holdfast::process {

std::span<const std::byte> KeeperImage() { return {keeper_image_begin, keeper_image_end}; }

}  // namespace holdfast::process
