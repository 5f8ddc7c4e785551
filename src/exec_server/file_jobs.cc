#include "exec_server/file_jobs.h"

#include <fmt/format.h>

namespace holdfast::exec_server {
namespace {

// One answer of the largest kind, and then some.
constexpr size_t kLargeAnswerBytes = size_t{1} << 30;

}  // namespace

struct FileJobs::Job {
  Job(Step work, rpc::PendingReply to, Settled then, std::weak_ptr<Attachment> from)
      : step(std::move(work)), reply(std::move(to)), settled(std::move(then)), attachment(std::move(from)) {
    json = reply.Begin();
  }

  Step step;
  rpc::PendingReply reply;
  Settled settled;
  std::weak_ptr<Attachment> attachment;
  PathOrder::Turn turn;
  ByteBudget::Lease lease;
  std::string json;
  Result<size_t> progress;
};

FileJobs::FileJobs(loop::WorkerPool& workers) : workers_(workers), budget_(kLargeAnswerBytes) {}

void FileJobs::RunSteps(Session& session, std::vector<Claim> claims, Step step, rpc::PendingReply reply,
                        Settled settled, Gate gate) {
  const std::shared_ptr<Attachment>& attachment = session.attachment();
  auto job = std::make_shared<Job>(std::move(step), std::move(reply), std::move(settled), attachment);
  auto start = [this, job, gate = std::move(gate)](PathOrder::Turn turn) mutable {
    job->turn = std::move(turn);
    BeginAtTurn(std::move(job), std::move(gate));
  };
  auto entered = attachment->order().Enter(std::move(claims), std::move(start));
  if (entered) return;
  if (job->settled) job->settled(entered);
  job->reply.Fail(entered.error());
}

void FileJobs::BeginAtTurn(std::shared_ptr<Job> job, Gate gate) {
  if (!gate) return RunStep(std::move(job));
  gate([this, job](const Result<>& ready) {
    if (job->attachment.expired()) return;  // nothing is done for a client that has gone
    if (ready) return RunStep(job);
    Finish(job, ready);
  });
}

void FileJobs::RunStep(std::shared_ptr<Job> job) {
  // A step that is done goes on the worker: what it owns may be a file, and closing that may take time.
  auto work = [job] {
    job->progress = job->step(job->json);
    if (!job->progress || *job->progress == 0) job->step = nullptr;
  };
  workers_.Run(std::move(work), [this, job] { OnStep(job); });
}

void FileJobs::OnStep(std::shared_ptr<Job> job) {
  if (job->progress && *job->progress > 0) {
    return budget_.Take(*job->progress, [this, job](ByteBudget::Lease lease) {
      if (job->attachment.expired()) return workers_.Run([job] { job->step = nullptr; }, [] {});
      job->lease = std::move(lease);
      RunStep(job);
    });
  }
  Finish(job, job->progress ? Result<>() : std::unexpected(std::move(job->progress).error()));
}

void FileJobs::Finish(const std::shared_ptr<Job>& job, const Result<>& outcome) {
  if (job->settled) job->settled(outcome);
  if (outcome) {
    job->reply.SucceedEncoded(std::move(job->json));
  } else {
    job->reply.Fail(outcome.error());
  }
  if (auto attachment = job->attachment.lock()) attachment->OnFileAnswer(std::move(job->lease));
}

}  // namespace holdfast::exec_server
