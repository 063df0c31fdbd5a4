#include "spec/make_options.h"

#include "base/codec.h"

namespace falcon::spec {
namespace {

// As a map: its members are the fields that are set.
base::Value fields_of(const MakeSpec& make) {
  return base::to_value(make);
}

}  // namespace

std::vector<std::string> make_options(const DatasetFacts& format) {
  std::vector<std::string> names;
  const base::Value taken = fields_of(format.make);
  for (const base::Value::Member& field : taken.as_object()) {
    names.push_back(field.name);
  }
  return names;
}

std::vector<std::string> make_options_without_effect(const MakeSpec& make,
                                                     const DatasetFacts& format) {
  const base::Value taken = fields_of(format.make);
  std::vector<std::string> names;
  const base::Value given = fields_of(make);
  for (const base::Value::Member& field : given.as_object()) {
    if (taken.find(field.name) == nullptr) names.push_back(field.name);
  }
  return names;
}

MakeSpec filled_make(const MakeSpec& make, const DatasetFacts& format) {
  base::Value fields = fields_of(format.make);
  const base::Value given = fields_of(make);
  for (const base::Value::Member& field : given.as_object()) {
    fields.set(field.name, field.value);
  }
  std::vector<Fault> ignored;  // of train, which may not be given yet
  MakeSpec filled = make;
  base::Reader(nullptr, ignored).read(fields, "", filled);
  return filled;
}

}  // namespace falcon::spec
