// How ranks reached each other: what NCCL says in its own log.
#pragma once
#include <string>
#include <vector>

#include "falconbench/fields.h"

namespace falcon {

/// Channels of NCCL from one rank to another.
struct Transport {
  int from = 0, to = 0;
  std::string via;  // P2P/CUMEM/read, SHM/direct/direct, NET/Socket/0, ...
  int channels = 0;
};
template <class V>
void visit_fields(Transport& t, V& v) {
  v.field("from", t.from, "rank that sends");
  v.field("to", t.to, "rank that receives");
  v.field("via", t.via, "transport as NCCL's log names it");
  v.field("channels", t.channels, "channels that took it");
}

}  // namespace falcon
