#include "http/client.h"

#include <optional>
#include <utility>

#include "http/curl_driver.h"
#include "http/curl_library.h"
#include "http/transfer_chain.h"

namespace holdfast::http {
namespace {

class RunningExchange final : public Exchange {
 public:
  explicit RunningExchange(std::shared_ptr<TransferChain> chain) : chain_(std::move(chain)) {}
  ~RunningExchange() override { chain_->Cancel(); }

  void Pause() override { chain_->Pause(); }
  void Resume() override { chain_->Resume(); }

 private:
  std::shared_ptr<TransferChain> chain_;
};

}  // namespace

struct Client::State : std::enable_shared_from_this<State> {
  State(loop::EventLoop& l, loop::WorkerPool& w, ClientOptions o) : loop(l), workers(w), options(std::move(o)) {}

  void Load();
  void OnLoaded(const Result<CurlLibrary>& library);

  loop::EventLoop& loop;
  loop::WorkerPool& workers;
  const ClientOptions options;
  std::optional<CurlDriver> driver;  // present once the library is loaded
  bool loading = false;
  std::vector<std::weak_ptr<TransferChain>> waiting;  // exchanges that wait for the library
};

// A failure is not remembered: the next exchange tries again, because the library may have been installed meanwhile.
void Client::State::Load() {
  if (std::exchange(loading, true)) return;
  auto library = std::make_shared<Result<CurlLibrary>>();
  workers.Run([library, name = options.library] { *library = CurlLibrary::Load(name); },
              [library, weak = weak_from_this()] {
                if (auto self = weak.lock()) self->OnLoaded(*library);
              });
}

void Client::State::OnLoaded(const Result<CurlLibrary>& library) {
  loading = false;
  if (library) driver.emplace(loop, *library, options.idle_time);
  for (const auto& weak : std::exchange(waiting, {})) {
    auto chain = weak.lock();
    if (!chain) continue;
    if (library) {
      chain->Begin(*driver);
    } else {
      chain->Abandon(library.error());
    }
  }
}

Client::Client(loop::EventLoop& loop, loop::WorkerPool& workers, ClientOptions options)
    : state_(std::make_shared<State>(loop, workers, std::move(options))) {}

Client::~Client() = default;

std::unique_ptr<Exchange> Client::Start(Request request, ExchangeObserver& observer) {
  auto chain = std::make_shared<TransferChain>(state_->loop, std::move(request), observer);
  chain->StartTimer();
  if (state_->driver) {
    chain->Begin(*state_->driver);
  } else {
    state_->waiting.push_back(chain);
    state_->Load();
  }
  return std::make_unique<RunningExchange>(std::move(chain));
}

}  // namespace holdfast::http
