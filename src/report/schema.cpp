#include "report/schema.h"

#include "base/codec_describe.h"
#include "base/json.h"
#include "falconbench/report.h"

namespace falcon::report {

std::string schema_text() {
  using base::Value;
  Value schema = Value::object();
  schema.set("$schema", "https://json-schema.org/draft/2020-12/schema");
  schema.set("title", "falconbench report");
  schema.set("description",
             "One run. Units are in the names (GB = 1e9 bytes); a null has its reason in "
             "<name>_reason. Later versions add keys and keep these.");
  // words of the catalogs stay open: a report of a newer program may name a newer model
  const Value body = base::json_schema(base::describe(Report{}), nullptr);
  for (const Value::Member& member : body.as_object()) schema.set(member.name, member.value);
  return base::to_json(schema, 1) + "\n";
}

}  // namespace falcon::report
