#include "process/keeper_image.h"

asm(R"(
  .section .rodata.keeper_image, "a", @progbits
  .balign 16
keeper_image_begin:
  .incbin ")" HOLDFAST_KEEPER_PATH R"("
keeper_image_end:
  .previous
)");

extern "C" {
extern const std::byte keeper_image_begin[];
extern const std::byte keeper_image_end[];
}

namespace holdfast::process {

std::span<const std::byte> KeeperImage() { return {keeper_image_begin, keeper_image_end}; }

}  // namespace holdfast::process
