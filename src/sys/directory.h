// The stream of the names in a directory.
#pragma once

#include <dirent.h>

#include <memory>

namespace holdfast::sys {

struct CloseDirectory {
  void operator()(DIR* directory) const { (void)::closedir(directory); }  // fails only for a bad stream
};

// Closes the directory, also where the stream was made from a descriptor by fdopendir.
using DirectoryStream = std::unique_ptr<DIR, CloseDirectory>;

}  // namespace holdfast::sys
