// Supervisor, the part that takes in what workers and users say.
#include <csignal>

#include "falconbench/clock.h"
#include "launch/supervisor.h"

namespace falcon::launch {
namespace {

// A time of the worker's host on the clock of this one.
double here_s(const Worker& worker, double time_s) {
  return worker.host == nullptr ? time_s : worker.host->here_s(time_s);
}

void shift_times(WorkerRecords& records, double by_s) {
  for (double* time_s : {&records.started_s, &records.model_ready_s, &records.first_step_end_s,
                         &records.measured_begin_s, &records.measured_end_s, &records.finished_s}) {
    *time_s += by_s;
  }
  for (PauseRecord& pause : records.pauses) {
    pause.begin_s += by_s;
    pause.end_s += by_s;
  }
  if (!records.trace.has_value()) return;
  records.trace.value->begin_s += by_s;
  records.trace.value->end_s += by_s;
}

}  // namespace

void Supervisor::hear(Worker& worker) {
  const std::size_t bytes_before = worker.channel->bytes_read();
  const bool was_open = worker.channel->is_open();
  double now_s = steady_now_s();
  worker.channel->flush();
  try {
    const std::vector<Message> messages = worker.channel->receive();
    // taken after reading: if the launcher is stopped before, what piled up meanwhile is in here
    now_s = steady_now_s();
    for (const Message& message : messages) obey(worker, message, now_s);
  } catch (const Error& error) {  // not what a worker of this build says
    worker.channel->close();
    Candidate candidate;
    candidate.failure.kind = "protocol";
    candidate.failure.message = error.what();
    candidate.time_s = now_s;
    worker.has_reported_failure = true;
    fail(worker, candidate);
  }
  if (worker.channel->bytes_read() != bytes_before) worker.watch.heard(now_s);
  if (was_open && !worker.channel->is_open()) worker.channel_closed_s = now_s;
}

void Supervisor::obey(Worker& worker, const Message& message, double now_s) {
  if (!worker.has_said_hello && message.type != MessageType::kHello) {
    throw Error(ExitCode::kWorker, "the worker did not say hello first, but \"" +
                                       std::string(name_of(message.type)) + "\"");
  }
  switch (message.type) {
    case MessageType::kHello: {
      const base::Value* protocol = message.body.find("protocol");
      const bool is_number = protocol != nullptr && protocol->is_integer();
      check_protocol(is_number ? static_cast<int>(protocol->as_integer()) : 0, "the worker");
      worker.has_said_hello = true;
      return;
    }
    case MessageType::kPhase:
    case MessageType::kAlive:
      return obey_progress(worker, message, now_s);
    case MessageType::kMeasuringBegan:
    case MessageType::kMeasuringEnded:
      return obey_moment(worker, message);
    case MessageType::kRecords:
      return obey_records(worker, message, now_s);
    case MessageType::kFailure: {
      const auto told = body_of<FailureMessage>(message);
      worker.has_reported_failure = true;
      return fail(worker, {told.failure, code_of_message(told.exit_code),
                           here_s(worker, told.time_s), false});
    }
    case MessageType::kDone:
      worker.is_done = true;
      return event(now_s, worker.rank, "done", "");
    default:
      break;
  }
  throw Error(ExitCode::kWorker, "the worker sent \"" + std::string(name_of(message.type)) +
                                     "\", which only the launcher sends");
}

void Supervisor::obey_progress(Worker& worker, const Message& message, double now_s) {
  auto progress = body_of<Progress>(message);
  progress.time_s = here_s(worker, progress.time_s);
  const bool is_new_phase = progress.phase != worker.watch.current_phase();
  worker.watch.phase(progress.phase, now_s);
  worker.watch.step(progress.step, progress.time_s, now_s);
  worker.watch.work(progress.work, now_s);
  if (is_new_phase) {
    event(progress.time_s, worker.rank, "phase", progress.phase);
    if (options_.on_phase) options_.on_phase(worker.rank, progress);
  }
  if (options_.on_progress) options_.on_progress(worker.rank, progress);
}

void Supervisor::obey_moment(Worker& worker, const Message& message) {
  const double time_s = here_s(worker, body_of<Moment>(message).time_s);
  const bool is_begin = message.type == MessageType::kMeasuringBegan;
  if (is_begin) worker.has_begun_measuring = true;
  event(time_s, worker.rank, std::string(name_of(message.type)), "");
  const auto& callback = is_begin ? options_.on_measuring_began : options_.on_measuring_ended;
  if (callback) callback(worker.rank, time_s);
}

void Supervisor::obey_records(Worker& worker, const Message& message, double now_s) {
  worker.records = body_of<WorkerRecords>(message);
  if (worker.host != nullptr) shift_times(*worker.records, here_s(worker, 0));
  worker.watch.finished();
  event(now_s, worker.rank, "records", "");
  if (fleet_.has_all_records()) teardown_s_ = now_s + options_.limits.teardown_timeout_s;
}

void Supervisor::reap(Worker& worker) {
  if (!worker.process->reap()) return;
  const double now_s = steady_now_s();
  worker.ended_s = now_s;
  hear_the_rest(worker, [this](Worker& ended) { hear(ended); });
  const ProcessEnd& end = *worker.process->end();
  event(now_s, worker.rank, "ended", to_text(end));
  // with its results in, how it ends costs nothing: WorkerEnd says it, the report makes a finding
  if (!worker.records && !worker.is_told_to_end && !worker.has_reported_failure) {
    fail(worker, unexpected_end(end, worker.process->pid(), now_s, worker.output.last_lines()));
  }
}

void Supervisor::read_signals(double now_s) {
  for (const int signal : signals_.take()) obey_signal(signal, "", now_s);
}

void Supervisor::obey_signal(int signal, const std::string& where, double now_s) {
  event(now_s, -1, "signal", signal_name(signal) + where);
  if (stage_ != Stage::kRunning) return kill_all(now_s);
  Candidate why;
  why.failure.kind = "interrupted";
  why.failure.message = "interrupted by " + signal_name(signal) + where;
  why.code = signal == SIGINT ? ExitCode::kInterrupted : ExitCode::kTerminated;
  finish_early(why, "interrupted", now_s);
}

}  // namespace falcon::launch
