#include "cli/local/commands.h"

#include <cstdio>
#include <string>

#include "cli/table/arguments.h"
#include "wire/openrpc.h"

namespace holdfast::cli {
namespace {

int PrintSchema(const Arguments&) {
  const std::string document = wire::OpenRpcDocument();
  return std::fputs(document.c_str(), stdout) < 0 || std::fflush(stdout) != 0 ? 1 : 0;
}

}  // namespace

Command SchemaCommand() {
  return {.name = "schema",
          .topic = Topic::kOther,
          .summary = "Prints the protocol of the exec-server for programs, as an OpenRPC document.",
          .description =
              "The document has every method and notification with the schemas of its params and its result, "
              "and the error codes. It is that of this version of the server.",
          .examples = {{"holdfast schema > openrpc.json", "Writes the document into a file."}},
          .run = PrintSchema};
}

}  // namespace holdfast::cli
