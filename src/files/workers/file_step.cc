#include "files/workers/file_step.h"

#include <optional>

namespace holdfast::files {

FileStep CallStep(std::string_view operation, std::string params_json) {
  return [operation, params_json = std::move(params_json)](HelperUse* helper, std::string& json,
                                                           size_t) -> Result<size_t> {
    TRY_VOID(helper->Call(operation, params_json, json));
    return 0;
  };
}

FileStep OpenStep(Operation<File> opening, wire::FsOpenFileParams params, FileUse use) {
  return
      [open = std::move(opening.run), params = std::move(params), use = std::move(use), file = std::optional<File>()](
          HelperUse* helper, std::string& json, size_t allowed) mutable -> Result<size_t> {
        if (!file) {
          TRY(file, helper != nullptr ? helper->Open(params) : open(kNothingGuarded));
        }
        return use(*file, json, allowed);
      };
}

}  // namespace holdfast::files
