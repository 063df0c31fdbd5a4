"""validate.py SCHEMA FILE...: one line a file, "valid" or what is wrong; exit 77: no validator here."""
import json
import sys

try:
    import jsonschema
except ImportError as error:
    print(f"no validator: {error}")
    sys.exit(77)


def refuse(constant):
    raise ValueError(f"{constant} is no JSON")


def verdict(validator, path):
    try:
        with open(path, encoding="utf-8") as file:
            report = json.load(file, parse_constant=refuse)
    except ValueError as error:
        return str(error)
    errors = [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(report)]
    return "; ".join(errors[:5]) if errors else "valid"


with open(sys.argv[1], encoding="utf-8") as schema_file:
    schema = json.load(schema_file)
jsonschema.Draft202012Validator.check_schema(schema)
for name in sys.argv[2:]:
    print(verdict(jsonschema.Draft202012Validator(schema), name).replace("\n", " "))
