#include "escalate/outside/starter_image.h"

#include "base/embedded_image.h"

HOLDFAST_EMBED_IMAGE(starter_image);

namespace holdfast::escalate {

std::span<const std::byte> StarterImage() { return {starter_image_begin, starter_image_end}; }

}  // namespace holdfast::escalate
