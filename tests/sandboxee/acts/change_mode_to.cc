// change_mode_to MODE PATH
#include <sys/stat.h>

#include "sandboxee.h"

int main(int, char** argv) { return Judge(::chmod(Word(argv, 2), static_cast<mode_t>(Number(argv, 1)))); }
