#include "exec_server/files/file_requests.h"

#include <atomic>
#include <thread>

#include "exec_server/server_fixture.h"
#include "rpc/recording_sink.h"
#include "support/eventually.h"

namespace holdfast::exec_server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr size_t kAllMemory = size_t{1} << 30;

// A gate that stuck steps wait at until the test opens it.
class Gate {
 public:
  void Pass() const { is_open_.wait(false); }
  void Open() {
    is_open_ = true;
    is_open_.notify_all();
  }

 private:
  std::atomic<bool> is_open_ = false;
};

// A witness tells on which thread it was destroyed.
class Witness {
 public:
  explicit Witness(std::shared_ptr<std::atomic<std::thread::id>> died_on) : died_on_(std::move(died_on)) {}
  Witness(Witness&&) = default;
  Witness& operator=(Witness&&) = delete;
  ~Witness() {
    if (died_on_) *died_on_ = std::this_thread::get_id();
  }

 private:
  std::shared_ptr<std::atomic<std::thread::id>> died_on_;
};

// A caller is a session with an attachment, but without a Connection; the test takes its place.
struct Caller {
  std::shared_ptr<Session> session;
  Attachment* attachment = nullptr;
  rpc::FakeTransport transport;
  std::shared_ptr<rpc::RecordingSink> sink = std::make_shared<rpc::RecordingSink>();

  size_t answers() const { return sink->messages.size(); }
};

class FileRequestsTest : public ServerFixture {
 protected:
  void TearDown() override {
    gate_->Open();
    for (auto& caller : callers_) Leave(*caller);
    ServerFixture::TearDown();
  }

  Caller& MakeCaller() {
    Caller& caller = *callers_.emplace_back(std::make_unique<Caller>());
    caller.session = *sessions_->Create();
    caller.attachment = &caller.session->Attach(caller.transport, {});
    return caller;
  }

  // Does what happens when a connection ends.
  void Leave(Caller& caller) {
    caller.sink.reset();
    if (caller.session->attached()) sessions_->Detach(*caller.attachment);
  }

  void Run(Caller& caller, int64_t id, std::vector<Claim> claims, files::FileStep step, size_t usual_bytes = 0) {
    FileRequest request{.claims = std::move(claims), .step = std::move(step), .usual_bytes = usual_bytes};
    parts_->file_requests.Start(caller.attachment->files(), std::move(request),
                                rpc::PendingReply(caller.sink, rpc::RequestId(id), 0));
  }

  static files::FileStep Say(std::string_view json) {
    return [json](files::HelperUse*, std::string& out, size_t) -> Result<size_t> {
      out += json;
      return 0;
    };
  }

  files::FileStep WaitAtTheGate() const {
    return [gate = gate_](files::HelperUse*, std::string& out, size_t) -> Result<size_t> {
      gate->Pass();
      out += "true";
      return 0;
    };
  }

  using Counter = std::shared_ptr<std::atomic<int>>;
  static Counter MakeCounter() { return std::make_shared<std::atomic<int>>(); }
  // Returns a step that asks for so many bytes of memory before it answers.
  static files::FileStep Need(size_t bytes, Counter calls = MakeCounter()) {
    return [bytes, calls = std::move(calls)](files::HelperUse*, std::string& out, size_t) -> Result<size_t> {
      if (++*calls == 1) return bytes;
      out += "true";
      return 0;
    };
  }

  bool RunUntilAnswered(const Caller& caller, size_t count) {
    return RunUntil([&] { return caller.answers() >= count; });
  }

  // Runs several requests of another session to their end. Requests that were started before, and do not have to wait,
  // have most likely ended by then.
  void LetOthersPass() {
    Caller& other = MakeCaller();
    for (int i = 0; i < 8; ++i) Run(other, i, {{"/elsewhere", Access::kWrite}}, Say("1"));
    ASSERT_TRUE(RunUntilAnswered(other, 8));
  }

  // Takes so many bytes from the budget, as if other clients held them.
  void HoldMemory(size_t bytes) {
    others_ = parts_->held->Open();
    others_.Resize(bytes);
  }
  void ReleaseMemory() { others_ = {}; }

  static Claim Reading(std::string path) { return {std::move(path), Access::kRead}; }
  static Claim Writing(std::string path) { return {std::move(path), Access::kWrite}; }

  std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
  std::vector<std::unique_ptr<Caller>> callers_;
  loop::ByteBudget::Permit others_;
};

TEST_F(FileRequestsTest, AnswersWithWhatTheStepWrote) {
  Caller& caller = MakeCaller();
  Run(caller, 7, {Reading("/a")}, Say(R"({"a":1})"));
  EXPECT_EQ(caller.answers(), 0u);  // a request is never answered inside of the call that starts it
  ASSERT_TRUE(RunUntilAnswered(caller, 1));
  EXPECT_EQ(caller.sink->messages[0], R"({"id":7,"result":{"a":1}})");
}

TEST_F(FileRequestsTest, AnswersWithTheErrorAndNothingOfWhatWasWritten) {
  Caller& caller = MakeCaller();
  Run(caller, 7, {Reading("/a")}, [](files::HelperUse*, std::string& out, size_t) -> Result<size_t> {
    out += "half an ans";
    return Fail(ErrorKind::kNotFound, "gone");
  });
  ASSERT_TRUE(RunUntilAnswered(caller, 1));
  EXPECT_EQ(caller.sink->messages[0], R"({"error":{"code":-32004,"message":"gone"},"id":7})");
}

TEST_F(FileRequestsTest, EncodesAResult) {
  Caller& caller = MakeCaller();
  Run(caller, 1, {Reading("/a")}, files::EncodingStep<wire::FsHandle>([] { return wire::FsHandle{"h"}; }));
  ASSERT_TRUE(RunUntilAnswered(caller, 1));
  EXPECT_EQ(caller.sink->messages[0], R"({"id":1,"result":{"handleId":"h"}})");
}

// A step may own a file, and closing the file may take any time.
TEST_F(FileRequestsTest, LetsAWorkerDestroyWhatAStepOwns) {
  Caller& caller = MakeCaller();
  const auto died_on = std::make_shared<std::atomic<std::thread::id>>();
  for (const bool good : {true, false}) {
    *died_on = std::thread::id();
    Run(caller, 1, {Reading("/a")},
        [good, witness = Witness(died_on)](files::HelperUse*, std::string& out, size_t) -> Result<size_t> {
          out += "1";
          return good ? Result<size_t>(0) : Fail(ErrorKind::kSystem, "bad");
        });
    ASSERT_TRUE(RunUntil([&] { return died_on->load() != std::thread::id(); }));
    EXPECT_NE(died_on->load(), std::this_thread::get_id());
  }
}

TEST_F(FileRequestsTest, KeepsRequestsForOnePathInOrderAndLetsOthersPass) {
  Caller& caller = MakeCaller();
  Run(caller, 1, {Writing("/a")}, WaitAtTheGate());
  Run(caller, 2, {Reading("/a/below")}, Say("2"));
  Run(caller, 3, {Reading("/b")}, Say("3"));
  ASSERT_TRUE(RunUntilAnswered(caller, 1));
  EXPECT_THAT(caller.sink->messages, ElementsAre(R"({"id":3,"result":3})"));
  gate_->Open();
  ASSERT_TRUE(RunUntilAnswered(caller, 3));
  EXPECT_EQ(caller.sink->messages[1], R"({"id":1,"result":true})");
  EXPECT_EQ(caller.sink->messages[2], R"({"id":2,"result":2})");
}

TEST_F(FileRequestsTest, KeepsTheOrderOfOneConnectionOnly) {
  Caller &one = MakeCaller(), &other = MakeCaller();
  Run(one, 1, {Writing("/a")}, WaitAtTheGate());
  Run(other, 2, {Writing("/a")}, Say("2"));
  EXPECT_TRUE(RunUntilAnswered(other, 1));
  EXPECT_THAT(one.sink->messages, IsEmpty());
}

TEST_F(FileRequestsTest, LetsManyStuckRequestsHoldUpNobodyElse) {
  Caller& caller = MakeCaller();
  for (int i = 0; i < 31; ++i) Run(caller, i, {Reading("/stuck")}, WaitAtTheGate());
  Run(caller, 100, {Reading("/b")}, Say("1"));
  EXPECT_TRUE(RunUntilAnswered(caller, 1));
  EXPECT_THAT(caller.sink->messages, ElementsAre(R"({"id":100,"result":1})"));
  LetOthersPass();
}

TEST_F(FileRequestsTest, RunsAStepAgainWhenItMayHaveTheMemoryItNeeds) {
  Caller& caller = MakeCaller();
  const Counter calls = MakeCounter();
  Run(caller, 1, {Reading("/a")}, Need(kAllMemory, calls));
  ASSERT_TRUE(RunUntilAnswered(caller, 1));
  EXPECT_EQ(*calls, 2);
  EXPECT_EQ(caller.sink->messages[0], R"({"id":1,"result":true})");
}

TEST_F(FileRequestsTest, MakesALargeAnswerWaitForRoomAndNoSmallOne) {
  Caller& caller = MakeCaller();
  HoldMemory(kAllMemory);
  Run(caller, 2, {Reading("/a")}, Need(1));
  Run(caller, 3, {Reading("/b")}, Say("3"));
  ASSERT_TRUE(RunUntilAnswered(caller, 1));
  LetOthersPass();
  EXPECT_THAT(caller.sink->messages, ElementsAre(R"({"id":3,"result":3})"));
  ReleaseMemory();
  EXPECT_TRUE(RunUntilAnswered(caller, 2));
}

TEST_F(FileRequestsTest, GivesMemoryBackWithTheAnswer) {
  Caller& caller = MakeCaller();
  for (int i = 0; i < 3; ++i) Run(caller, i, {Reading("/a")}, Need(kAllMemory));
  EXPECT_TRUE(RunUntilAnswered(caller, 3));
  EXPECT_TRUE(RunUntil([&] { return parts_->held->held() == 0; }));
}

TEST_F(FileRequestsTest, LetsAStepHaveTheUsualRoomAtOnceIfThereIsAny) {
  Caller& caller = MakeCaller();
  const auto allowed = std::make_shared<std::atomic<size_t>>();
  const auto run = [&](int64_t id) {
    auto step = [allowed](files::HelperUse*, std::string& out, size_t bytes) -> Result<size_t> {
      *allowed = bytes;
      out += "1";
      return 0;
    };
    Run(caller, id, {Reading("/a")}, std::move(step), 1'000'000);
    ASSERT_TRUE(RunUntilAnswered(caller, static_cast<size_t>(id)));
  };
  run(1);
  EXPECT_EQ(*allowed, 1'000'000u);
  HoldMemory(kAllMemory);
  run(2);
  EXPECT_EQ(*allowed, files::FileWorker::kFreeBytes);
}

TEST_F(FileRequestsTest, RefusesWhatIsMoreThanEverything) {
  Caller& caller = MakeCaller();
  const Counter calls = MakeCounter();
  Run(caller, 1, {Reading("/a")}, Need(kAllMemory + 1, calls));
  ASSERT_TRUE(RunUntilAnswered(caller, 1));
  EXPECT_THAT(caller.sink->messages[0], testing::HasSubstr("max_held_bytes"));
  EXPECT_EQ(*calls, 1);
}

TEST_F(FileRequestsTest, DoesNotGoOnForAClientThatLeftWhileItWaitedForMemory) {
  Caller &gone = MakeCaller(), &other = MakeCaller();
  HoldMemory(kAllMemory);
  const Counter calls = MakeCounter();
  const auto died_on = std::make_shared<std::atomic<std::thread::id>>();
  Run(gone, 2, {Reading("/a")},
      [step = Need(kAllMemory, calls), witness = Witness(died_on)](
          files::HelperUse*, std::string& out, size_t allowed) mutable { return step(nullptr, out, allowed); });
  ASSERT_TRUE(RunUntil([&] { return *calls == 1; }));
  LetOthersPass();
  Leave(gone);
  ReleaseMemory();
  Run(other, 3, {Reading("/a")}, Need(kAllMemory));
  EXPECT_TRUE(RunUntilAnswered(other, 1));
  EXPECT_EQ(*calls, 1);
  ASSERT_TRUE(RunUntil([&] { return died_on->load() != std::thread::id(); }));
  EXPECT_NE(died_on->load(), std::this_thread::get_id());
}

TEST_F(FileRequestsTest, MakesNoFurtherAnswersForAClientThatDoesNotTakeThem) {
  Caller& slow = MakeCaller();
  Run(slow, 1, {Reading("/a")}, Say("1"));
  ASSERT_TRUE(RunUntilAnswered(slow, 1));
  slow.attachment->files().OnCongested();  // a connection calls this after an answer that the transport has no room for
  Run(slow, 2, {Reading("/a")}, Say("2"));
  Run(slow, 3, {Reading("/b")}, Say("3"));
  LetOthersPass();
  EXPECT_EQ(slow.answers(), 1u);
  slow.session->OnDrained(*slow.attachment);
  EXPECT_TRUE(RunUntilAnswered(slow, 3));
}

TEST_F(FileRequestsTest, DropsWhatWaitsWhenTheClientLeaves) {
  Caller& caller = MakeCaller();
  const Counter calls = MakeCounter();
  Run(caller, 1, {Writing("/a")}, WaitAtTheGate());
  Run(caller, 2, {Reading("/a")}, [calls](files::HelperUse*, std::string& out, size_t) -> Result<size_t> {
    ++*calls;
    out += "2";
    return 0;
  });
  Leave(caller);
  gate_->Open();
  LetOthersPass();
  EXPECT_EQ(*calls, 0);
}

TEST_F(FileRequestsTest, LetsAStuckStepEndLongAfterItsClientHasLeft) {
  Caller& caller = MakeCaller();
  const auto died_on = std::make_shared<std::atomic<std::thread::id>>();
  Run(caller, 1, {Writing("/a")},
      [gate = gate_, witness = Witness(died_on)](files::HelperUse*, std::string& out, size_t) -> Result<size_t> {
        gate->Pass();
        out += "1";
        return 0;
      });
  Leave(caller);
  LetOthersPass();
  EXPECT_EQ(died_on->load(), std::thread::id());
  gate_->Open();
  EXPECT_TRUE(RunUntil([&] { return died_on->load() != std::thread::id(); }));
}

TEST_F(FileRequestsTest, LetsAStuckStepEndLongAfterTheServerHasEnded) {
  Caller& caller = MakeCaller();
  const auto died_on = std::make_shared<std::atomic<std::thread::id>>();
  const auto started = std::make_shared<std::atomic<bool>>();
  Run(caller, 1, {Writing("/a")},
      [gate = gate_, started, witness = Witness(died_on)](files::HelperUse*, std::string& out,
                                                          size_t) -> Result<size_t> {
        *started = true;
        gate->Pass();
        out += "1";
        return 1;
      });
  ASSERT_TRUE(RunUntil([&] { return started->load(); }));
  Leave(caller);
  callers_.clear();
  Boot();
  gate_->Open();
  EXPECT_TRUE(support::Eventually([&] { return died_on->load() != std::thread::id(); }));
}

TEST_F(FileRequestsTest, RefusesRequestsUnderASandboxWhenTheSessionEnds) {
  Caller& caller = MakeCaller();
  sessions_->End(*caller.session, [] {});
  FileRequest sandboxed{.claims = {}, .sandbox = sandbox::SandboxSpec(), .step = Say("1")};
  parts_->file_requests.Start(caller.attachment->files(), std::move(sandboxed),
                              rpc::PendingReply(caller.sink, rpc::RequestId(int64_t{1}), 0));
  ASSERT_EQ(caller.answers(), 1u);
  EXPECT_EQ(Message(caller.sink->messages[0]).Text("error.message"), "the session is ending");
  Run(caller, 2, {}, Say("1"));
  ASSERT_TRUE(RunUntilAnswered(caller, 2));
  EXPECT_EQ(Message(caller.sink->messages[1]).error_code(), 0);
}

}  // namespace
}  // namespace holdfast::exec_server
