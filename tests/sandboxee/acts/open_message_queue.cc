#include <fcntl.h>
#include <mqueue.h>

#include "sandboxee.h"

int main(int, char** argv) { return Judge(::mq_open(Word(argv, 1), O_WRONLY)); }
