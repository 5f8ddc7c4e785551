// Any bytes of a wrapper or a server, split anywhere, become frames or an error. The first byte is the size of the
// pieces. Of every frame, each kind of message is tried: it is refused with a reason, or it survives the way out and
// back, and has nothing that cannot be passed to the kernel.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "escalate/messages/frame.h"
#include "escalate/messages/messages.h"

namespace {

using namespace holdfast::escalate;

template <typename Message>
void CheckSurvives(const holdfast::Result<Message>& message, holdfast::Result<Message> (*decode)(std::string_view)) {
  if (!message) return CHECK(!message.error().message.empty());
  CHECK(decode(Encode(*message)) == *message);
}

void TryRequest(std::string_view text) {
  const auto request = DecodeRequest(text);
  CheckSurvives(request, DecodeRequest);
  if (!request) return;
  CHECK(request->workdir.starts_with('/') && !request->file.empty());
  const auto has_nul = [](const std::string& word) { return word.contains('\0'); };
  CHECK(!has_nul(request->file) && std::ranges::none_of(request->argv, has_nul) &&
        std::ranges::none_of(request->environment, has_nul));
}

void TryMessages(std::string_view text) {
  TryRequest(text);
  CheckSurvives(DecodeHandOver(text), DecodeHandOver);
  CheckSurvives(DecodeExitCode(text), DecodeExitCode);
  if (const auto answer = DecodeAnswer(text)) CHECK(DecodeAnswer(Encode(*answer)) == *answer);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  if (size == 0) return 0;
  const size_t piece = std::max<size_t>(bytes[0], 1);
  std::string_view rest(reinterpret_cast<const char*>(bytes + 1), size - 1);
  TryMessages(rest);
  FrameReader reader;
  while (!rest.empty()) {
    const size_t read = std::min({piece, reader.wanted(), rest.size()});
    CHECK(read > 0);
    const auto frame = reader.Add(rest.substr(0, read), {});
    rest.remove_prefix(read);
    if (!frame) {
      CHECK(!frame.error().message.empty());
      return 0;
    }
    if (*frame) TryMessages((*frame)->text);
  }
  return 0;
}
