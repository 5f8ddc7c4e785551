// Everybody's: the kernel asks this process before a file is opened.
#include <fcntl.h>
#include <sys/fanotify.h>

#include "sandboxee.h"

int main() { return Judge(::fanotify_init(FAN_CLASS_CONTENT, O_RDONLY)); }
