#include <linux/kd.h>
#include <sys/ioctl.h>

#include "sandboxee.h"
#include "terminal.h"

int main() {
  const Terminal terminal;
  return JudgeReached(::ioctl(terminal.user_end(), KDSKBSENT, nullptr), ENOTTY);
}
