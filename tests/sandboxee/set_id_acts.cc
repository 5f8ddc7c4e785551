#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "sandboxee/act.h"

namespace holdfast::sandboxee {
namespace {

constexpr uint32_t kFchmodat2 = 452;  // the headers of older systems do not name this call

constexpr FilteredCall Call(uint32_t number, std::array<uint64_t, 4> arguments) { return {number, arguments}; }

// Each act tries, in another way, to leave a program in the workspace that runs as its owner, or with its group, for
// every other user of the machine. Other users could then become this user, or root.
constexpr Act kSetIds[] = {
    {.name = "chmod to set-user-ID", .words = "change_mode_to 04755 {ws}/a.txt", .call = Call(SYS_chmod, {1, 04755})},
    {.name = "chmod to set-user-ID where every file may be written",
     .words = "change_mode_to 04755 {out}/file.txt",
     .policy = Policy::kAnyFile},
    {.name = "chmod to set-user-ID, with a network",
     .words = "change_mode_to 04755 {ws}/a.txt",
     .policy = Policy::kNetwork},
    {.name = "chmod to set-group-ID", .words = "change_mode_to 02755 {ws}/a.txt", .call = Call(SYS_chmod, {1, 02755})},
    {.name = "chmod to set-group-ID, to be made executable later", .words = "change_mode_to 02644 {ws}/a.txt"},
    {.name = "fchmod to set-user-ID",
     .words = "change_file_mode 04755 {ws}/a.txt",
     .call = Call(SYS_fchmod, {3, 04755})},
    {.name = "fchmod to set-group-ID",
     .words = "change_file_mode 02755 {ws}/a.txt",
     .call = Call(SYS_fchmod, {3, 02755})},
    {.name = "fchmodat to set-user-ID",
     .words = "change_mode_at 04755 {ws}/a.txt",
     .call = Call(SYS_fchmodat, {3, 1, 04755})},
    {.name = "fchmodat to set-group-ID",
     .words = "change_mode_at 02755 {ws}/a.txt",
     .call = Call(SYS_fchmodat, {3, 1, 02755})},
    {.name = "fchmodat2 to set-user-ID",
     .words = "change_mode_at2 04755 {ws}/a.txt",
     .outside = Outside::kIfThere,
     .call = Call(kFchmodat2, {3, 1, 04755})},
    {.name = "fchmodat2 to set-group-ID",
     .words = "change_mode_at2 02755 {ws}/a.txt",
     .outside = Outside::kIfThere,
     .call = Call(kFchmodat2, {3, 1, 02755})},
    {.name = "open with set-user-ID",
     .words = "create_as 04755 {ws}/new",
     .call = Call(SYS_openat, {3, 1, O_CREAT | O_WRONLY, 04755})},
    {.name = "open with set-group-ID",
     .words = "create_as 02755 {ws}/new",
     .call = Call(SYS_open, {1, O_CREAT | O_WRONLY, 02755})},
    {.name = "open a nameless file with set-user-ID and name it",
     .words = "name_nameless_file 04755 {ws}/new",
     .outside = Outside::kIfThere,
     .call = Call(SYS_openat, {3, 1, O_TMPFILE | O_WRONLY, 04755})},
    {.name = "creat with set-user-ID", .words = "creat_as 04755 {ws}/new", .call = Call(SYS_creat, {1, 04755})},
    {.name = "mknod with set-user-ID",
     .words = "make_node 04755 {ws}/new",
     .call = Call(SYS_mknod, {1, S_IFREG | 04755})},
    {.name = "mknod with set-group-ID",
     .words = "make_node 02755 {ws}/new",
     .call = Call(SYS_mknodat, {3, 1, S_IFREG | 02755})},
    {.name = "openat2 with set-user-ID",
     .words = "create_by_openat2 04755 {ws}/new",
     .refusal = "ENOSYS",
     .call = FilteredCall{SYS_openat2, {}, "ENOSYS"}},
    {.name = "give a program a capability",
     .words = "give_capability {ws}/a.txt",
     .outside = Outside::kNeedsRootIfThere},
};

}  // namespace

std::span<const Act> SetIdActs() { return kSetIds; }

}  // namespace holdfast::sandboxee
