// A MethodTable maps each method to its handler, by the types of wire/methods.h. A call has two steps, because params
// are decoded before the connection checks whether the client may call the method at all: Prepare decodes the params,
// and the Call that it returns runs the handler on a target, such as a session.
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
#include "wire/method.h"

namespace holdfast::rpc {

template <typename Target>
class MethodTable {
 public:
  using Call = std::move_only_function<void(Target&, PendingReply)>;
  using Prepare = std::function<Result<Call>(wire::Json params)>;

  // A method as the table knows it.
  struct Row {
    wire::Caller caller;
    Prepare prepare;
  };

  // Binds a handler that works on one part of the target; the function `part` returns that part.
  template <typename Method, typename Service, typename Part>
  void Bind(Part& (*part)(Target&), Service& service,
            void (Service::*handler)(Part&, const typename Method::Params&, Reply<typename Method::Result>)) {
    BindFunction<Method>(
        part, [&service, handler](Part& of_target, const auto& params, Reply<typename Method::Result>&& reply) {
          (service.*handler)(of_target, params, std::move(reply));
        });
  }

  // Binds a handler that needs nothing of the target.
  template <typename Method, typename Service>
  void Bind(Service& service,
            void (Service::*handler)(const typename Method::Params&, Reply<typename Method::Result>)) {
    Add<Method>([&service, handler](Target&, const auto& params, Reply<typename Method::Result>&& reply) {
      (service.*handler)(params, std::move(reply));
    });
  }

  // Binds a handler of the target itself.
  template <typename Method>
  void Bind(void (Target::*handler)(const typename Method::Params&, Reply<typename Method::Result>)) {
    Add<Method>([handler](Target& target, const auto& params, Reply<typename Method::Result>&& reply) {
      (target.*handler)(params, std::move(reply));
    });
  }

  // Binds a function `run(part, params, reply)`.
  template <typename Method, typename Part>
  void BindFunction(Part& (*part)(Target&), auto run) {
    Add<Method>([part, run](Target& target, const auto& params, Reply<typename Method::Result>&& reply) {
      run(part(target), params, std::move(reply));
    });
  }

  // Returns null if there is no such method.
  const Row* Find(std::string_view name) const {
    auto it = methods_.find(name);
    return it != methods_.end() ? &it->second : nullptr;
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& [name, row] : methods_) names.push_back(name);
    return names;
  }

 private:
  template <typename Method>
  void Add(auto run) {
    using Params = typename Method::Params;
    auto prepare = [run](wire::Json json) -> Result<Call> {
      TRY(Params params, wire::Decode<Params>(json));
      return Call([run, params = std::move(params)](Target& target, PendingReply reply) {
        run(target, params, Reply<typename Method::Result>(std::move(reply)));
      });
    };
    CHECK(methods_.emplace(Method::kName, Row{Method::kCaller, std::move(prepare)}).second);
  }

  std::map<std::string, Row, std::less<>> methods_;
};

}  // namespace holdfast::rpc
