// A shared library that is loaded at run time, so that the program starts without it and runs where it is not
// installed. It stays loaded for the life of the program, because OpenSSL, which may come with it, cannot be unloaded
// safely.
#pragma once

#include <string>

#include "base/result.h"

namespace holdfast {

class DynamicLibrary {
 public:
  // Loads the library, which blocks while files are mapped and initialized. The message of an error is the loader's.
  static Result<DynamicLibrary> Open(const std::string& name);

  // Looks up a function. A function that the library does not have becomes null, and missing() names the first of them.
  template <typename Function>
  void Find(const char* name, Function& function) {
    function = reinterpret_cast<Function>(Symbol(name));
    if (function == nullptr && missing_ == nullptr) missing_ = name;
  }
  const char* missing() const { return missing_; }

  // Keeps OpenSSL, if the library uses it, from freeing its data at exit. It would free the data of each thread, also
  // that of a thread which is about to end and frees its data itself.
  void LeaveOpenSslAtExit() const;

 private:
  explicit DynamicLibrary(void* handle) : handle_(handle) {}
  void* Symbol(const char* name) const;

  void* handle_;
  const char* missing_ = nullptr;
};

}  // namespace holdfast
