// The act intercepts opens of all processes: the kernel would ask this process before a file is opened.
#include <fcntl.h>
#include <sys/fanotify.h>

#include "sandboxee.h"

int main() { return Judge(::fanotify_init(FAN_CLASS_CONTENT, O_RDONLY)); }
