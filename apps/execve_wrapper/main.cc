// The program `holdfast-execve-wrapper`: it asks the server about one program, and runs it or stands in for it.
#include <cstdlib>

#include "escalate/wrapper/run_main.h"

// There is nothing to flush or to free, and the end should be quick.
int main(int argc, char** argv) { std::_Exit(holdfast::escalate::RunWrapper(argc, argv)); }
