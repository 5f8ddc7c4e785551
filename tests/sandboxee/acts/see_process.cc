#include <sys/stat.h>

#include <string>

#include "sandboxee.h"

int main(int, char** argv) {
  struct stat status;
  return Judge(::stat((std::string("/proc/") + Word(argv, 1)).c_str(), &status));
}
