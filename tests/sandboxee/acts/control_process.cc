// The act sets one property that decides how a process runs to a usual value, which does no harm. The first argument
// names the property, the second the process: its number, 0 for the act itself, or "child" for a child of the act.
#include <linux/ioprio.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string_view>

#include "child.h"
#include "sandboxee.h"

namespace {

// No user of the system has this number.
constexpr id_t kNobodysNumber = 54321;

long SetAffinity(pid_t process) {
  cpu_set_t processors;
  if (::sched_getaffinity(process, sizeof processors, &processors) < 0) GiveUp("sched_getaffinity");
  return ::sched_setaffinity(process, sizeof processors, &processors);
}

// The attributes are as many bytes as the first version of the structure has, which every kernel accepts.
long SetAttributes(pid_t process) {
  alignas(8) char attributes[48];
  if (::syscall(SYS_sched_getattr, process, attributes, sizeof attributes, 0) < 0) GiveUp("sched_getattr");
  return ::syscall(SYS_sched_setattr, process, attributes, 0);
}

long SetLimit(pid_t process) {
  rlimit limit;
  if (::getrlimit(RLIMIT_CORE, &limit) < 0) GiveUp("getrlimit");
  return ::prlimit(process, RLIMIT_CORE, &limit, nullptr);
}

long SetPriority(__priority_which_t kind, id_t number) {
  errno = 0;
  const int priority = ::getpriority(kind, number);
  return ::setpriority(kind, number, errno == 0 ? priority : 0);
}

long SetIoPriority(int kind, id_t number) {
  return ::syscall(SYS_ioprio_set, kind, number, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, IOPRIO_BE_NORM));
}

int Control(std::string_view call, pid_t process) {
  const auto number = static_cast<id_t>(process);
  const sched_param usual = {.sched_priority = 0};
  if (call == "scheduler") return Judge(::sched_setscheduler(process, SCHED_OTHER, &usual));
  if (call == "parameters") return Judge(::sched_setparam(process, &usual));
  if (call == "attributes") return Judge(SetAttributes(process));
  if (call == "affinity") return Judge(SetAffinity(process));
  if (call == "limit") return Judge(SetLimit(process));
  if (call == "priority") return Judge(SetPriority(PRIO_PROCESS, number));
  if (call == "group_priority") return JudgeReached(SetPriority(PRIO_PGRP, number), ESRCH);
  if (call == "user_priority") return JudgeReached(SetPriority(PRIO_USER, kNobodysNumber), ESRCH);
  if (call == "io_priority") return Judge(SetIoPriority(IOPRIO_WHO_PROCESS, number));
  if (call == "group_io_priority") return JudgeReached(SetIoPriority(IOPRIO_WHO_PGRP, number), ESRCH);
  if (call == "user_io_priority") return JudgeReached(SetIoPriority(IOPRIO_WHO_USER, kNobodysNumber), ESRCH);
  errno = EINVAL;
  GiveUp("call");
}

}  // namespace

int main(int, char** argv) {
  const std::string_view call = Word(argv, 1);
  if (std::string_view(Word(argv, 2)) != "child") return Control(call, static_cast<pid_t>(Number(argv, 2)));
  const Child child;
  return Control(call, child.pid());
}
