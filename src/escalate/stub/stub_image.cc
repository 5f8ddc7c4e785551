#include "escalate/stub/stub_image.h"

#include "base/embedded_image.h"

HOLDFAST_EMBED_IMAGE(stub_image);

namespace holdfast::escalate {

std::span<const std::byte> StubImage() { return {stub_image_begin, stub_image_end}; }

}  // namespace holdfast::escalate
