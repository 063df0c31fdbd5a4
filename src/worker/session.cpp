#include "worker/session.h"

#include <memory>
#include <optional>
#include <string>

#include <ATen/Context.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <unistd.h>

#include <falconbench/clock.h>
#include <falconbench/model.h>

#include "comm/nccl_log.h"
#include "comm/process_group.h"
#include "data/catalog.h"
#include "data/loader.h"
#include "data/options.h"
#include "data/page_cache.h"
#include "models/weights.h"
#include "ops/fused_norm_act.h"
#include "ops/fused_residual_norm.h"
#include "train/catalog.h"
#include "train/evaluation.h"
#include "train/host_memory.h"
#include "train/run_control.h"
#include "train/trainer.h"
#include "worker/device.h"
#include "worker/meeting.h"
#include "worker/reporting.h"
#include "worker/settings.h"

namespace falcon::worker {
namespace {

/// The loop's view of the launcher.
class ChannelControl : public train::RunControl {
 public:
  explicit ChannelControl(launch::WorkerChannel& channel) : channel_(channel) {}
  bool stop_requested() const override { return channel_.stop_requested(); }
  void measuring_began(double time_s) override {
    channel_.set_phase("measure");
    channel_.measuring_began(time_s);
  }
  void measuring_ended(double time_s) override { channel_.measuring_ended(time_s); }
  void entered(const char* phase) override { channel_.set_phase(phase); }
  void worked() override { channel_.count_work(); }

 private:
  launch::WorkerChannel& channel_;
};

std::string own_hostname() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

/// Everything one rank owns; later members use earlier ones, so they go in the reverse order.
class Session {
 public:
  Session(launch::WorkerChannel& channel, int listen_fd)
      : channel_(channel),
        told_(channel.plan()),
        plan_(told_.plan),
        rank_(plan_.ranks.at(static_cast<std::size_t>(told_.rank))),
        listen_fd_(listen_fd),
        control_(channel) {}

  void run();

 private:
  void prepare_process();
  void select_device();
  void connect();
  void build();
  void use_gpu(int ordinal);
  ModelOptions model_options() const;
  std::unique_ptr<Model> make_replica(at::Device device) const;
  void make_model_on_device();
  void make_loader();
  void make_validation_data();
  void evaluate();
  void save_weights();
  Measured<TraceRecord> trace();
  train::TrainerOptions trainer_options() const;
  WorkerRecords records() const;
  void tear_down();

  launch::WorkerChannel& channel_;
  const WorkerPlan& told_;
  const Plan& plan_;
  const RankPlan& rank_;
  int listen_fd_;
  ChannelControl control_;
  double started_s_ = steady_now_s();
  double model_ready_s_ = 0;
  at::Device device_ = at::kCPU;
  std::vector<at::Device> more_devices_;  // of this rank, beside device_
  std::vector<DevicePlan> used_devices_;
  std::optional<c10::cuda::CUDAStream> training_stream_;
  std::optional<c10::cuda::CUDAStream> copy_stream_;
  std::optional<comm::NcclLog> nccl_log_;
  std::unique_ptr<comm::ProcessGroup> group_;
  std::unique_ptr<Model> model_;
  WeightsRecord weights_;
  std::unique_ptr<Dataset> dataset_;
  std::unique_ptr<Dataset> validation_data_;
  std::unique_ptr<train::HostAllocator> allocator_;
  std::unique_ptr<data::Loader> loader_;
  std::unique_ptr<train::Trainer> trainer_;
  std::optional<PauseRecord> evaluated_;
  Measured<EvaluationRecord> evaluation_ = Measured<EvaluationRecord>::missing("evaluate is off");
  Measured<SavedFile> saved_weights_ = Measured<SavedFile>::missing("save_weights is not given");
};

void Session::run() {
  channel_.set_phase("connect");
  prepare_process();
  select_device();
  connect();
  channel_.set_phase("build");
  build();
  channel_.set_phase("warm_up");
  trainer_->run();
  if (plan_.spec.evaluate) evaluate();
  if (!plan_.files.save_weights.empty()) save_weights();
  channel_.set_phase("finish");
  WorkerRecords result = records();
  result.trace = trace();
  channel_.send_records(std::move(result));
  channel_.set_phase("tear_down");
  tear_down();
  channel_.done();
}

void Session::prepare_process() {
  nccl_log_.emplace(plan_.nccl);
  const at::DeviceType kind = rank_.devices.at(0).kind == "cuda" ? at::kCUDA : at::kCPU;
  bind_to_cpus(rank_);
  const train::Precision& precision = train::precision_of(plan_.spec.precision.value_or(""), kind);
  set_torch_switches(plan_, rank_, precision.tf32);
}

void Session::use_gpu(int ordinal) {
  used_devices_.push_back(describe_device(ordinal));
  limit_memory(plan_, ordinal);
}

void Session::select_device() {
  if (rank_.devices.at(0).kind != "cuda") {
    used_devices_ = rank_.devices;
    more_devices_.assign(rank_.devices.size() - 1, at::kCPU);
    return;
  }
  std::vector<at::Device> devices;
  for (const DevicePlan& planned : rank_.devices) {
    devices.emplace_back(at::kCUDA, static_cast<c10::DeviceIndex>(find_device(planned)));
  }
  device_ = devices[0];
  more_devices_.assign(devices.begin() + 1, devices.end());
  c10::cuda::set_device(device_.index());
  at::globalContext().lazyInitDevice(at::kCUDA);
  for (const at::Device device : devices) use_gpu(device.index());
  // one stream for everything: gradients are accumulated on the stream where the model was made
  training_stream_ = c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device_.index());
  copy_stream_ = c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device_.index());
  c10::cuda::setCurrentCUDAStream(*training_stream_);
}

void Session::connect() {
  if (plan_.ranks.size() == 1) return;
  const auto backend = device_.is_cuda() ? comm::Backend::kNccl : comm::Backend::kGloo;
  group_ = std::make_unique<comm::ProcessGroup>(backend, meeting_of(told_, listen_fd_), device_);
}

ModelOptions Session::model_options() const {
  ModelOptions options;
  options.classes = plan_.spec.model_options.classes.value_or(options.classes);
  options.dropout = plan_.spec.model_options.dropout.value_or(options.dropout);
  options.layers = plan_.spec.model_options.layers.value_or(options.layers);
  options.hidden_size = plan_.spec.model_options.hidden_size.value_or(options.hidden_size);
  options.heads = plan_.spec.model_options.heads.value_or(options.heads);
  options.image_size = plan_.spec.image_size.value_or(options.image_size);
  options.ranks =
      static_cast<std::int64_t>(plan_.ranks.size() * rank_.devices.size()) * plan_.spec.accumulate;
  return options;
}

/// Its values come from the model.
std::unique_ptr<Model> Session::make_replica(at::Device device) const {
  std::unique_ptr<Model> replica = make_model(plan_.spec.model, model_options());
  replica->set_fused(plan_.spec.engine.fused != "off");
  replica->to(device, at::kFloat, plan_.spec.engine.channels_last.value_or(false));
  return replica;
}

void Session::make_model_on_device() {
  model_ = make_model(plan_.spec.model, model_options());
  model_->initialize(static_cast<std::uint64_t>(plan_.spec.seed));
  weights_.tensors = static_cast<std::int64_t>(model_->state().size());
  if (!plan_.files.resume.empty()) {  // the trainer loads it, whole or not at all
    weights_.source = plan_.files.resume;
    weights_.loaded = weights_.tensors;
  } else if (!plan_.files.init.empty()) {
    weights_ = models::load_weights(*model_, weights::SafetensorsFile(plan_.files.init));
  }
  model_->set_fused(plan_.spec.engine.fused != "off");
  model_->to(device_, at::kFloat, plan_.spec.engine.channels_last.value_or(false));
}

void Session::make_loader() {
  const RunSpec& spec = plan_.spec;
  data::DatasetOptions options =
      data::dataset_options(spec, plan_.data.folder, spec.model_options.classes.value_or(0));
  options.count = plan_.data.samples;
  options.threads = rank_.decode_threads;
  options.draw_on_device = device_.is_cuda();
  dataset_ = data::make_dataset(options);
  // The scan has read the head of every file. The last rank to come here drops what all have read;
  // what another rank's loader had read by then, it does not read again in this epoch.
  if (spec.data.cache == kColdCache) data::drop_from_cache(*dataset_, rank_.decode_threads);
  const data::BatchSchedule schedule({.samples = dataset_->size(),
                                      .global_batch = plan_.global_batch,
                                      .ranks = static_cast<int>(plan_.ranks.size()),
                                      .rank = told_.rank,
                                      .seed = static_cast<std::uint64_t>(spec.seed)});
  data::LoaderOptions loading;
  loading.threads = rank_.decode_threads;
  loading.slots = static_cast<int>(spec.data.loader.prefetch) + train::kSlotsHeld;
  loading.first_step = plan_.first_step;
  if (plan_.measured_steps) {
    const std::int64_t traced =
        spec.trace.steps == 0 ? 0 : spec.trace.steps + train::kTraceLeadSteps;
    loading.steps = plan_.warmup_steps + *plan_.measured_steps + traced;
  }
  allocator_ = std::make_unique<train::HostAllocator>(device_.is_cuda());
  loader_ = std::make_unique<data::Loader>(*dataset_, schedule, *allocator_, loading);
}

void Session::make_validation_data() {
  data::DatasetOptions options = data::validation_options(
      plan_.spec, plan_.data.folder, plan_.spec.model_options.classes.value_or(0));
  options.threads = rank_.decode_threads;
  validation_data_ = data::make_dataset(options);
}

void Session::evaluate() {
  if (trainer_->was_stopped()) {
    evaluation_ = Measured<EvaluationRecord>::missing("the run was ended before the evaluation");
    return;
  }
  control_.entered("evaluate");
  PauseRecord pause;
  pause.kind = kEvaluationPause;
  pause.step = trainer_->steps_done();
  pause.begin_s = steady_now_s();
  const train::TrainerOptions training = trainer_options();
  train::EvaluationOptions options;
  options.device = device_;
  options.channels_last = training.channels_last;
  options.copy_stream = training.copy_stream;
  options.precision = &train::precision_of(plan_.spec.precision.value_or(""), device_.type());
  options.batch = plan_.micro_batch / static_cast<std::int64_t>(rank_.devices.size());
  options.threads = rank_.decode_threads;
  options.prefetch = static_cast<int>(plan_.spec.data.loader.prefetch);
  options.seed = data::validation_seed(plan_.spec);
  const std::unique_ptr<train::Metric> metric = train::make_metric(plan_.task, *validation_data_);
  const train::AveragedModel averaged(*model_, trainer_->averages());
  evaluation_ =
      train::evaluate(*model_, group_.get(), *validation_data_, *metric, options, control_);
  pause.end_s = steady_now_s();
  evaluated_ = pause;
}

void Session::save_weights() {
  control_.entered("save");
  const double began_s = steady_now_s();
  const auto worked = [this] { control_.worked(); };
  if (told_.rank == 0) {
    const train::AveragedModel averaged(*model_, trainer_->averages());
    SavedFile saved{.file = plan_.files.save_weights};
    saved.bytes = models::save_tensors(saved.file, model_->state(), {{"format", "pt"}}, worked);
    saved.time_s = steady_now_s() - began_s;
    saved_weights_ = saved;
  }
  if (group_ != nullptr) group_->wait_for_root("save", worked);
}

Measured<TraceRecord> Session::trace() {
  const std::int64_t steps = plan_.spec.trace.steps;
  if (steps == 0) return Measured<TraceRecord>::missing(kNoTrace);
  if (trainer_->was_stopped()) {
    return Measured<TraceRecord>::missing("the run was ended before the traced steps");
  }
  control_.entered("trace");
  return trainer_->trace(steps);
}

train::TrainerOptions Session::trainer_options() const {
  train::TrainerOptions options;
  options.device = device_;
  options.channels_last = plan_.spec.engine.channels_last.value_or(false);
  options.more_devices = more_devices_;
  options.make_replica = [this](at::Device device) { return make_replica(device); };
  if (device_.is_cuda()) {
    options.training_stream = training_stream_->stream();
    options.copy_stream = copy_stream_->stream();
  }
  return options;
}

void Session::build() {
  if (plan_.spec.evaluate) make_validation_data();
  make_loader();  // decodes while the model is made
  make_model_on_device();
  model_ready_s_ = steady_now_s();
  trainer_ = std::make_unique<train::Trainer>(plan_, *model_, group_.get(), *loader_,
                                              dataset_->layout(), trainer_options(), control_);
  channel_.read_step_from(trainer_->progress());
}

WorkerRecords Session::records() const {
  WorkerRecords records;
  records.rank = told_.rank;
  records.pid = ::getpid();
  records.hostname = own_hostname();
  records.devices = used_devices_;
  records.started_s = started_s_;
  records.model_ready_s = model_ready_s_;
  records.weights = weights_;
  records.transports = group_ != nullptr && device_.is_cuda()
                           ? nccl_log_->transports()
                           : Measured<std::vector<Transport>>::missing("NCCL was not used");
  trainer_->fill(records);
  const FileReading reading = dataset_->reading();
  records.loader.io = reading.used;
  records.loader.io_fallback = reading.fallback;
  if (evaluated_) records.pauses.push_back(*evaluated_);
  records.evaluation = evaluation_;
  records.saved_weights = saved_weights_;
  const EngineSpec& engine = plan_.spec.engine;
  const bool fused = device_.is_cuda() && engine.fused != "off";
  if (engine.channels_last.has_value()) {  // an image model
    const bool is_taken = fused && *engine.channels_last && ops::has_fused_norm_act();
    records.choices["norm_act"] = is_taken ? "fused NHWC kernels" : "ATen";
  } else {
    const bool is_taken = fused && ops::has_fused_residual_norm();
    for (const char* op : {"embedding", "residual_norm"}) {
      records.choices[op] = is_taken ? "fused kernels" : "ATen";
    }
  }
  records.finished_s = steady_now_s();
  return records;
}

void Session::tear_down() {
  channel_.read_step_from(nullptr);
  trainer_.reset();  // the reducer goes before the group that it talks through
  loader_.reset();
  if (group_ != nullptr) group_->shutdown();
  group_.reset();
  model_.reset();
}

}  // namespace

ExitCode run_session(launch::WorkerChannel& channel, int listen_fd) {
  // Outlives the handlers: unwinding may wait for a lost peer, and the launcher must know by then.
  std::unique_ptr<Session> session;
  const ExitCode code = report_failures(channel, [&] {
    session = std::make_unique<Session>(channel, listen_fd);
    session->run();
  });
  if (code != ExitCode::kOk) channel.read_step_from(nullptr);
  return code;
}

}  // namespace falcon::worker
