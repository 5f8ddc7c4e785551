#include "base/build_id.h"

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

namespace holdfast {
namespace {

constexpr std::string_view kOwner("GNU\0", 4);

size_t Padded(size_t size) { return (size + 3) & ~size_t{3}; }

// Finds the build id in a segment of ELF notes. A note consists of a header, an owner and a content; the owner and the
// content are padded to four bytes.
std::string_view FindBuildId(std::string_view notes) {
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes.data(), sizeof header);
    const size_t content = sizeof header + Padded(header.n_namesz), end = content + Padded(header.n_descsz);
    if (end > notes.size()) return {};
    if (header.n_type == NT_GNU_BUILD_ID && notes.substr(sizeof header, header.n_namesz) == kOwner) {
      return notes.substr(content, header.n_descsz);
    }
    notes.remove_prefix(end);
  }
  return {};
}

// The callback of dl_iterate_phdr. The first object that is visited is the program itself, so the visit ends with it.
int VisitProgram(dl_phdr_info* info, size_t, void* result) {
  for (size_t i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    // The address at which the kernel loaded the program is a number, so a cast is needed.
    const auto* const begin =
        reinterpret_cast<const char*>(info->dlpi_addr + segment.p_vaddr);  // NOLINT(performance-no-int-to-ptr)
    const std::string_view id = FindBuildId({begin, segment.p_memsz});
    if (id.empty()) continue;
    for (const char byte : id) {
      *static_cast<std::string*>(result) += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    }
    break;
  }
  return 1;
}

}  // namespace

std::string BuildId() {
  std::string id;
  ::dl_iterate_phdr(VisitProgram, &id);
  return id;
}

}  // namespace holdfast
