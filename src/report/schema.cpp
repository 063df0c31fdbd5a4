#include "report/schema.h"

#include "base/codec_describe.h"
#include "base/json.h"
#include "falconbench/links.h"
#include "falconbench/report.h"

namespace falcon::report {

namespace {

std::string text_of(const char* title, const char* description, const base::FieldInfo& info) {
  using base::Value;
  Value schema = Value::object();
  schema.set("$schema", "https://json-schema.org/draft/2020-12/schema");
  schema.set("title", title);
  schema.set("description", std::string(description) +
                                " Units are in the names (GB = 1e9 bytes); a null has its reason "
                                "in <name>_reason. Later versions add keys and keep these.");
  // words of the catalogs stay open: a report of a newer program may name a newer model
  const Value body = base::json_schema(info, nullptr);
  for (const Value::Member& member : body.as_object()) schema.set(member.name, member.value);
  return base::to_json(schema, 1) + "\n";
}

}  // namespace

std::string schema_text() {
  return text_of("falconbench report", "One run.", base::describe(Report{}));
}

std::string links_schema_text() {
  return text_of("falconbench links", "Links of one machine.", base::describe(LinksReport{}));
}

}  // namespace falcon::report
