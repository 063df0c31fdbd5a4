// Something that planning, the launcher, a worker or the report noticed about a run.
#pragma once
#include <string>

#include "falconbench/fields.h"

namespace falcon {

/// Something worth knowing about a run, with a catalog id (catalog::findings()).
struct Finding {
  std::string id;
  std::string severity;  // info, warning or invalid
  std::string message;
  std::string evidence;
  std::string advice;
};
template <class V>
void visit_fields(Finding& f, V& v) {
  v.field("id", f.id, "catalog word");
  v.field("severity", f.severity, "info, warning or invalid");
  v.field("message", f.message, "what was found");
  v.field("evidence", f.evidence, "the numbers or text it rests on");
  v.field("advice", f.advice, "what to do");
}

}  // namespace falcon
