// A MethodTable maps the name of a method to its handler. A call has two steps, because params are decoded before the
// connection checks whether the client may call the method at all: Prepare decodes the params, and the Call that it
// returns runs the handler on a target, which is a session.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/result.h"
#include "rpc/reply.h"
#include "wire/decode.h"

namespace holdfast::rpc {

template <typename Target>
class MethodTable {
 public:
  using Call = std::move_only_function<void(Target&, PendingReply)>;
  using Prepare = std::function<Result<Call>(wire::Json params)>;

  // Binds a handler that works on one part of the target; the function `part` returns that part.
  template <typename Service, typename Part, typename Params, typename T>
  void Bind(std::string name, Part& (*part)(Target&), Service& service,
            void (Service::*handler)(Part&, const Params&, Reply<T>)) {
    Add<Params>(std::move(name), [part, &service, handler](Target& target, const Params& params, PendingReply reply) {
      (service.*handler)(part(target), params, Reply<T>(std::move(reply)));
    });
  }

  // Binds a handler that needs nothing of the target.
  template <typename Service, typename Params, typename T>
  void Bind(std::string name, Service& service, void (Service::*handler)(const Params&, Reply<T>)) {
    Add<Params>(std::move(name), [&service, handler](Target&, const Params& params, PendingReply reply) {
      (service.*handler)(params, Reply<T>(std::move(reply)));
    });
  }

  // Binds a function `run(part, params, reply)`.
  template <typename Params, typename T, typename Part>
  void BindFunction(std::string name, Part& (*part)(Target&), auto run) {
    Add<Params>(std::move(name), [part, run](Target& target, const Params& params, PendingReply reply) {
      run(part(target), params, Reply<T>(std::move(reply)));
    });
  }

  // Returns null if there is no such method.
  const Prepare* Find(std::string_view name) const {
    auto it = methods_.find(name);
    return it != methods_.end() ? &it->second : nullptr;
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& [name, prepare] : methods_) names.push_back(name);
    return names;
  }

 private:
  template <typename Params>
  void Add(std::string name, auto run) {
    auto prepare = [run](wire::Json json) -> Result<Call> {
      TRY(Params params, wire::Decode<Params>(json));
      return Call([run, params = std::move(params)](Target& target, PendingReply reply) {
        run(target, params, std::move(reply));
      });
    };
    CHECK(methods_.emplace(std::move(name), std::move(prepare)).second);
  }

  std::map<std::string, Prepare, std::less<>> methods_;
};

}  // namespace holdfast::rpc
