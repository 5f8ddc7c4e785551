#include "sandboxee/act.h"

namespace holdfast::sandboxee {
namespace {

// In this order: some use what others have made.
constexpr Act kAllowed[] = {
    {.name = "create", .words = "create {ws}/new"},
    {.name = "write", .words = "write {ws}/new"},
    {.name = "write through a mapping", .words = "write_mapped {ws}/new"},
    {.name = "truncate", .words = "truncate {ws}/new"},
    {.name = "change the mode", .words = "change_mode {ws}/new"},
    {.name = "change the times", .words = "change_times {ws}/new"},
    {.name = "set an attribute", .words = "set_attribute {ws}/new", .outside = Outside::kIfThere},
    {.name = "rename", .words = "rename {ws}/new {ws}/newer"},
    {.name = "make a hard link", .words = "make_hard_link {ws}/newer {ws}/hard"},
    {.name = "make a link", .words = "make_symlink hard {ws}/soft"},
    {.name = "make a FIFO", .words = "make_fifo {ws}/fifo"},
    {.name = "make a directory", .words = "make_directory {ws}/directory"},
    {.name = "move a directory into place", .words = "move_into_place {ws}/made {ws}/moved"},
    {.name = "rename to another directory", .words = "rename {ws}/newer {ws}/directory/new"},
    {.name = "exchange", .words = "exchange {ws}/hard {ws}/directory"},
    {.name = "rename a directory", .words = "rename {ws}/hard {ws}/full"},
    {.name = "remove", .words = "remove {ws}/full/new"},
    {.name = "remove a directory", .words = "remove_directory {ws}/full"},
    {.name = "work in a repository inside", .words = "write {ws}/sub/code.cc"},
    {.name = "write beside what is locked", .words = "create {ws}/lvl1/lvl2/new", .policy = Policy::kLocked},
    {.name = "write in the other root", .words = "create {store}/new", .policy = Policy::kPointer},
    {.name = "write in the wider root", .words = "create {d}/new", .policy = Policy::kWide},
    {.name = "write any file", .words = "write {out}/file.txt", .policy = Policy::kAnyFile},
    {.name = "write of a minimal policy", .words = "create {ws}/minimal", .policy = Policy::kMinimal},
    {.name = "read outside", .words = "read {out}/file.txt"},
    {.name = "read outside of a read-only policy", .words = "read {out}/file.txt", .policy = Policy::kReadOnly},
    {.name = "list outside", .words = "list {out}"},
    {.name = "read the repository", .words = "read {ws}/.git/HEAD"},
    {.name = "read beside what is denied", .words = "read {out}/file.txt", .policy = Policy::kDenied},
    {.name = "write beside what a pattern denies", .words = "write {ws}/a.txt", .policy = Policy::kDeniedPatterns},
    {.name = "write what is opened again", .words = "create {ws}/private/open/new", .policy = Policy::kReopened},
    {.name = "talk over a stream pair", .words = "talk_over_pair 1"},
    {.name = "talk over a packet pair", .words = "talk_over_pair 5"},
    {.name = "pass a descriptor", .words = "pass_descriptor"},
    {.name = "connect to a socket, with a network", .words = "connect_unix {host}/stream", .policy = Policy::kNetwork},
    {.name = "connect over TCP, with a network", .words = "connect_inet {tcp}", .policy = Policy::kNetwork},
    {.name = "send over UDP, with a network", .words = "send_udp {udp}", .policy = Policy::kNetwork},
    {.name = "listen on TCP, with a network", .words = "listen_inet", .policy = Policy::kNetwork},
    {.name = "listen on TCP behind a proxy", .words = "listen_inet", .policy = Policy::kProxy},
    {.name = "start a program", .words = "start_program"},
    {.name = "start a thread", .words = "start_thread"},
    {.name = "signal a child", .words = "signal_child"},
    {.name = "clone without a namespace", .words = "clone 0"},
    {.name = "unshare its own descriptors", .words = "unshare 0x600"},
    {.name = "run code that it made", .words = "run_made_code"},
    {.name = "execute from memory", .words = "execute_memory_file {bin}/nothing"},
    {.name = "/dev/null", .words = "use_device /dev/null"},
    {.name = "/dev/zero", .words = "use_device /dev/zero"},
    {.name = "/dev/full", .words = "use_device /dev/full"},
    {.name = "/dev/urandom", .words = "read /dev/urandom"},
    {.name = "open a terminal", .words = "open_terminal"},
    {.name = "watch files", .words = "watch_files {ws}"},
    {.name = "lock a file", .words = "lock_file {ws}/a.txt"},
    {.name = "share memory", .words = "share_memory"},
    {.name = "use a semaphore", .words = "use_semaphore"},
    {.name = "wait for events", .words = "wait_for_events"},
    {.name = "fix addresses", .words = "fix_addresses"},
    {.name = "restrict itself", .words = "restrict_itself", .outside = Outside::kIfThere},
    {.name = "lower its priority", .words = "lower_priority"},
    {.name = "git status", .words = "/usr/bin/git -C {ws} status --porcelain"},
};

}  // namespace

std::span<const Act> AllowedActs() { return kAllowed; }

}  // namespace holdfast::sandboxee
