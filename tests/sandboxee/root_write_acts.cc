// A client asks for this policy when its user has approved an escalation and the profile denies something: every file
// may be written, also protected names in /, but denied files stay denied, and /dev is the sandbox's own.
#include "sandboxee/act.h"

namespace holdfast::sandboxee {
namespace {

constexpr Act kRefused[] = {
    {.name = "read a denied file", .words = "read {out}/secret.txt", .policy = Policy::kRootWrite, .refusal = "EACCES"},
    {.name = "list a denied directory",
     .words = "list {out}/secrets",
     .policy = Policy::kRootWrite,
     .refusal = "EACCES"},
    {.name = "read in a denied directory",
     .words = "read {out}/secrets/key",
     .policy = Policy::kRootWrite,
     .refusal = "EACCES"},
    {.name = "read in a denied directory of the workspace",
     .words = "read {ws}/private/key",
     .policy = Policy::kRootWrite,
     .refusal = "EACCES"},
    {.name = "read through a link",
     .words = "read {ws}/link/secret.txt",
     .policy = Policy::kRootWrite,
     .refusal = "EACCES"},
    {.name = "read by the moved directory",
     .words = "read_after_rename {ws}/private {ws}/public {ws}/public/key",
     .policy = Policy::kRootWrite,
     .refusal = "EBUSY"},
    {.name = "read by the moved directory above",
     .words = "read_after_rename {out} {d}/moved {d}/moved/secret.txt",
     .policy = Policy::kRootWrite,
     .refusal = "EBUSY"},
    {.name = "read by another link",
     .words = "read_after_link {out}/secret.txt {ws}/linked",
     .policy = Policy::kRootWrite,
     .refusal = "EXDEV EACCES EPERM"},
    {.name = "write a denied file", .words = "write {out}/secret.txt", .policy = Policy::kRootWrite},
    {.name = "remove a denied file",
     .words = "remove {out}/secret.txt",
     .policy = Policy::kRootWrite,
     .refusal = "EBUSY"},
    {.name = "create in a denied directory", .words = "create {out}/secrets/new", .policy = Policy::kRootWrite},
    {.name = "change the times of a device",
     .words = "change_times /dev/null",
     .policy = Policy::kRootWrite,
     .refusal = "EROFS"},
    {.name = "connect over TCP", .words = "connect_inet {tcp}", .policy = Policy::kRootWrite},
};

constexpr Act kAllowed[] = {
    {.name = "/dev/null", .words = "use_device /dev/null", .policy = Policy::kRootWrite},
    {.name = "/dev/zero", .words = "use_device /dev/zero", .policy = Policy::kRootWrite},
    {.name = "/dev/full", .words = "use_device /dev/full", .policy = Policy::kRootWrite},
    {.name = "/dev/random", .words = "read /dev/random", .policy = Policy::kRootWrite},
    {.name = "/dev/urandom", .words = "read /dev/urandom", .policy = Policy::kRootWrite},
    {.name = "open a terminal", .words = "open_terminal", .policy = Policy::kRootWrite},
    {.name = "share memory", .words = "share_memory", .policy = Policy::kRootWrite},
    {.name = "create outside", .words = "create {out}/new", .policy = Policy::kRootWrite},
    {.name = "write outside", .words = "write {out}/file.txt", .policy = Policy::kRootWrite},
    {.name = "/dev/null where every file may be written", .words = "use_device /dev/null", .policy = Policy::kAnyFile},
    {.name = "/dev/zero where every file may be written", .words = "use_device /dev/zero", .policy = Policy::kAnyFile},
};

}  // namespace

std::span<const Act> RootWriteActs() { return kRefused; }
std::span<const Act> AllowedRootWriteActs() { return kAllowed; }

}  // namespace holdfast::sandboxee
