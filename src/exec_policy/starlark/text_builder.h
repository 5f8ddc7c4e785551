// A text of unknown length that a run builds. Its bytes count when they are added, so that the limit of memory holds
// before the text is complete.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "exec_policy/starlark/heap.h"

namespace holdfast::exec_policy {

class TextBuilder {
 public:
  explicit TextBuilder(Heap& heap) : heap_(heap) {}

  Result<> Add(std::string_view text) {
    TRY_VOID(heap_.CheckRoom(text_.size() + text.size()));
    TRY_VOID(heap_.SpendOnText(text.size()));
    text_.append(text);
    return {};
  }
  Result<std::string_view> Finish() const { return heap_.CopyText(text_); }

 private:
  Heap& heap_;
  std::string text_;
};

}  // namespace holdfast::exec_policy
