// What the launchers of one run on several hosts say to each other: the one on the host with rank 0
// is the head, the others serve it. Frames as between launcher and worker (launch/messages.h).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/value.h"
#include "falconbench/fields.h"
#include "falconbench/host.h"
#include "falconbench/plan.h"
#include "launch/worker_process.h"

namespace falcon::launch {

/// host_hello: the first message. Whoever does not know the token is not answered.
struct HostHello {
  int protocol = 0;
  std::string token, version, name;
  std::vector<int> ranks;
};
template <class V>
void visit_fields(HostHello& h, V& v) {
  v.field("protocol", h.protocol, "kProtocolVersion of the launcher");
  v.field("token", h.token, "known to the launchers of this run");
  v.field("version", h.version, "version and revision of the program");
  v.field("name", h.name, "host name");
  v.field("ranks", h.ranks, "global ranks on the host");
}

/// host_offer: what the host would do, planned by itself.
struct HostOffer {
  Host host;
  std::string spec_hash;                                  // of its resolved spec
  std::int64_t samples = 0, classes = 0, validation = 0;  // of its data set
  std::string made;                                       // content hash of what data.make made
  std::vector<std::string> names;  // of its devices, as the topology has them
  std::vector<RankPlan> ranks;
  Places places;  // of its devices
  std::vector<Finding> findings;
  std::string interface;  // that leads to the head
};
template <class V>
void visit_fields(HostOffer& o, V& v) {
  v.field("host", o.host, "the host");
  v.field("spec_hash", o.spec_hash, "of the resolved spec");
  v.field("samples", o.samples, "samples of the data set");
  v.field("classes", o.classes, "classes of the data set");
  v.field("validation", o.validation, "samples to evaluate on");
  v.field("made", o.made, "content hash of the set of data.make; empty without");
  v.field("names", o.names, "devices as the topology names them");
  v.field("ranks", o.ranks, "devices, CPUs and threads of its ranks");
  v.field("places", o.places, "where its devices sit");
  v.field("findings", o.findings, "what stands out in that");
  v.field("interface", o.interface, "network interface that leads to the head");
}

/// host_plan: go.
struct HostPlan {
  Plan plan;
  std::string store_host;
  int store_port = 0;  // 0: the store of torchrun's agent
  double watchdog_s = 0;
};
template <class V>
void visit_fields(HostPlan& p, V& v) {
  v.field("plan", p.plan, "the plan of all hosts");
  v.field("store_host", p.store_host, "address of the first host");
  v.field("store_port", p.store_port, "where the ranks meet on it");
  v.field("watchdog_s", p.watchdog_s, "communication time limit");
}

/// host_word: a message of a worker, or to it.
struct HostWord {
  int rank = 0;
  std::string type;
  base::Value body;
};
template <class V>
void visit_fields(HostWord& w, V& v) {
  v.field("rank", w.rank, "global rank");
  v.field("type", w.type, "MessageType");
  v.field("body", w.body, "its body");
}

struct HostStarted {
  int rank = 0;
  std::int64_t pid = 0;
};
template <class V>
void visit_fields(HostStarted& s, V& v) {
  v.field("rank", s.rank, "global rank");
  v.field("pid", s.pid, "process id");
}

struct HostLine {
  int rank = 0;
  std::string line;
};
template <class V>
void visit_fields(HostLine& l, V& v) {
  v.field("rank", l.rank, "global rank");
  v.field("line", l.line, "a line of output of the worker");
}

struct HostEnded {
  int rank = 0;
  ProcessEnd end;
};
template <class V>
void visit_fields(HostEnded& e, V& v) {
  v.field("rank", e.rank, "global rank");
  v.field("end", e.end, "how the process ended");
}

/// host_signal: to a worker; from a host (rank -1): its launcher was sent one.
struct HostSignal {
  int rank = -1;
  int signal = 0;
};
template <class V>
void visit_fields(HostSignal& s, V& v) {
  v.field("rank", s.rank, "global rank, -1: the launcher");
  v.field("signal", s.signal, "signal number");
}

/// ping, and pong with the time at which it was answered.
struct Ping {
  double sent_s = 0, answered_s = 0;
};
template <class V>
void visit_fields(Ping& p, V& v) {
  v.field("sent_s", p.sent_s, "steady clock of the head");
  v.field("answered_s", p.answered_s, "steady clock of the host");
}

}  // namespace falcon::launch
