#include "exec_server/files/file_jobs.h"

#include <algorithm>

#include <fmt/format.h>

namespace holdfast::exec_server {

struct FileJobs::Job {
  Job(Gate before, Step work, rpc::PendingReply to, Settled then, std::weak_ptr<FileSession> from)
      : gate(std::move(before)),
        step(std::move(work)),
        reply(std::move(to)),
        settled(std::move(then)),
        session(std::move(from)) {
    json = reply.Begin();
    head_bytes = json.size();
  }

  Gate gate;
  Step step;
  rpc::PendingReply reply;
  Settled settled;
  std::weak_ptr<FileSession> session;
  PathOrder::Turn turn;
  loop::ByteBudget::Permit permit;  // for json
  std::string json;
  size_t head_bytes;  // of json, before the step
  Result<size_t> progress;
};

void FileJobs::RunSteps(FileSession& session, std::vector<Claim> claims, Step step, rpc::PendingReply reply,
                        Settled settled, Gate gate, size_t usual_bytes) {
  auto job = std::make_shared<Job>(std::move(gate), std::move(step), std::move(reply), std::move(settled),
                                   session.weak_from_this());
  auto start = [this, job, usual_bytes](PathOrder::Turn turn) {
    job->turn = std::move(turn);
    job->permit = budget_.Open();
    (void)job->permit.TryResize(usual_bytes);  // without it the step asks
    BeginAtTurn(job);
  };
  auto entered = session.order().Enter(std::move(claims), std::move(start));
  if (entered) return;
  if (job->settled) job->settled(entered);
  job->reply.Fail(entered.error());
}

void FileJobs::BeginAtTurn(const std::shared_ptr<Job>& job) {
  if (!job->gate) return RunStep(job);
  job->gate([this, job](const Result<>& ready) {
    if (job->session.expired()) return;  // nothing is done for a client that has gone
    if (ready) return RunStep(job);
    Finish(job, ready);
  });
}

void FileJobs::RunStep(std::shared_ptr<Job> job) {
  // A step that is done goes on the worker: what it owns may be a file, and closing that may take time.
  auto work = [job, allowed = std::max(job->permit.bytes(), kFreeBytes)] {
    job->progress = job->step(job->json, allowed);
    if (!job->progress || *job->progress == 0) job->step = nullptr;
  };
  workers_.Run(std::move(work), [this, job] { OnStep(job); });
}

void FileJobs::OnStep(std::shared_ptr<Job> job) {
  if (job->progress && *job->progress == kThroughGate) {
    job->json.resize(job->head_bytes);
    return BeginAtTurn(job);
  }
  if (job->progress && *job->progress > 0) {
    // The permit is the job's own: a job that waits is kept by what it waits for.
    auto& permit = job->permit;
    return permit.Await(*job->progress, [this, job](const Result<>& room) { OnRoom(job, room); });
  }
  Finish(job, job->progress ? Result<>() : std::unexpected(std::move(job->progress).error()));
}

// What the step owns goes on a worker also when it cannot go on.
void FileJobs::OnRoom(const std::shared_ptr<Job>& job, const Result<>& room) {
  if (room && !job->session.expired()) return RunStep(job);
  workers_.Run([job] { job->step = nullptr; }, [] {});
  if (!room) Finish(job, room);
}

void FileJobs::Finish(const std::shared_ptr<Job>& job, const Result<>& outcome) {
  if (job->settled) job->settled(outcome);
  if (outcome) {
    job->reply.SucceedEncoded(std::move(job->json));
  } else {
    job->reply.Fail(outcome.error());
  }
  if (auto session = job->session.lock()) session->OnAnswer();
}

}  // namespace holdfast::exec_server
