#include <fcntl.h>
#include <sys/stat.h>

#include <cstdio>
#include <string>

#include "sandboxee.h"

// The act moves an ancestor of a project away, and builds the project again with a hook of its own.
int main(int, char** argv) {
  const std::string ancestor = Word(argv, 1);
  if (std::rename(ancestor.c_str(), Word(argv, 2)) < 0) return Refused(errno);
  const std::string project = ancestor + Word(argv, 3);
  for (const std::string& directory : {ancestor, project, project + "/.git", project + "/.git/hooks"}) {
    if (::mkdir(directory.c_str(), 0755) < 0) return Refused(errno);
  }
  return Judge(::open((project + "/.git/hooks/pre-commit").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0755));
}
