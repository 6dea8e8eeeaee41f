"""rows.py - what a row of GET /v1 is in an OpenAPI document: a schema, a parameter, an example."""
import json
import re

NUMBER = r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,2})?"
POSITIONS_ROW = f"({NUMBER}(,{NUMBER})*|{NUMBER}:{NUMBER}(:{NUMBER})?)"
POSITIONS = {"type": "string", "pattern": f"^{POSITIONS_ROW}$", "minLength": 1, "maxLength": 8192}
NAME = {"type": "string", "pattern": "^[A-Za-z0-9_-][A-Za-z0-9._-]*$", "minLength": 1, "maxLength": 128}
TYPES = ["string", "number", "boolean", "array", "object", "null"]
POSITION = {"type": "number", "exclusiveMinimum": -(2**53), "exclusiveMaximum": 2**53}


def positions_text(row):
    """Positions as text: of several axes one for each, with semicolons between them."""
    several = "max_axes" in row
    return {**POSITIONS, "pattern": f"^{POSITIONS_ROW}(;{POSITIONS_ROW})*$"} if several else POSITIONS


def any_of_types(*schemas):
    """
    One of these, which are of different types. Generators of clients make nothing useful of oneOf or of several types,
    but know a value without a type; each keyword says of which type it speaks.
    """
    out = {key: value for schema in schemas for key, value in schema.items() if key != "type"}
    return {**out, "not": {"type": [kind for kind in TYPES if kind not in [schema["type"] for schema in schemas]]}}


def positions_array(row):
    """Positions in an array, nested once for each axis more."""
    out = {"type": "array", "minItems": 1, "items": POSITION}
    for _ in range(1, int(row.get("max_axes", 1))):
        out = {"type": "array", "minItems": 1, "items": any_of_types(POSITION, out)}
    return out


def spans_text(row):
    span = "(" + "|".join(row["choices"]) + ")(:[1-9][0-9]{0,8})?"
    return {"type": "string", "pattern": f"^{span}(,{span})*$", "maxLength": 8192}


def spans(row):
    """Runs as text, or as a list of kinds and of pairs [kind, length]."""
    kind = {"type": "string", "pattern": "^(" + "|".join(row["choices"]) + ")$"}
    pair = {"type": "array", "minItems": 2, "maxItems": 2, "items": {}}
    runs = {"type": "array", "minItems": 1, "maxItems": row["max_items"], "items": any_of_types(kind, pair)}
    return any_of_types(spans_text(row), runs)


def whole(number):
    return int(number) if float(number).is_integer() and abs(number) < 2**63 else number


def bounds(row):
    names = {"minimum": "minimum", "exclusive_minimum": "exclusiveMinimum", "maximum": "maximum"}
    return {names[key]: whole(row[key]) for key in names if key in row}


# They are refused unless another parameter is given, and so is their default: forms that send defaults must not.
GUESTS = ("truncate", "mrope_interleaved", "mrope_layout", "csv_header", "view", "theme", "figure_width", "figure_height")


def derived(row):
    """Is the default words, not a value that may be sent alone?"""
    default = row.get("default")
    if row.get("component", row["name"]) in GUESTS:
        return True
    if row["type"] == "positions":
        return default is not None and re.match(POSITIONS["pattern"], default) is None
    if row["type"] == "string" and "choices" in row:
        return default is not None and default not in row["choices"]
    return isinstance(default, str) and row["type"] != "string"


def words(row):
    text = row["description"]
    if "unit" in row:
        text += f" Unit: {row['unit']}."
    if "required_unless" in row:
        text += f" Required unless {row['required_unless']} is given."
    if derived(row) and "default" in row:
        text += f" Default: {str(row['default']).lower() if row['type'] == 'boolean' else row['default']}."
    return text


def schema_of(row):
    """The schema of a row, as a member of a body has it."""
    kind, out = row["type"], {}
    if kind in ("integer", "number", "boolean"):
        out = {"type": kind, **bounds(row)}
    elif kind == "text":
        out = {"type": "string", "minLength": 1, "maxLength": row["max_length"]}
    elif kind == "string":
        out = {"type": "string", "enum": row["choices"]}
    elif kind == "numbers":
        item = {"type": "integer" if row.get("integers") else "number", **bounds(row)}
        out = {"type": "array", "minItems": 1, "maxItems": row["max_items"], "items": item}
        if "row_items" in row:
            width = row["row_items"]
            line = {"type": "array", "minItems": width, "maxItems": width, "items": item}
            out = {"type": "array", "minItems": 1, "maxItems": row["max_items"] // width, "items": line}
    elif kind == "spans":
        kinds = {"type": "string", "enum": row["choices"]}
        length = {"type": "integer", "minimum": 1, "maximum": 2**31 - 1}
        out = spans(row)
    elif kind == "choices":
        names = {"type": "string", "enum": row["choices"]}
        out = {"type": "array", "minItems": 1, "maxItems": len(row["choices"]), "items": names}
    elif kind == "positions":
        out = any_of_types(POSITION, positions_text(row), positions_array(row))
    elif kind == "tensor":
        out = {"type": "array", "minItems": 1, "items": {}}
    if "default" in row and not derived(row) and kind != "positions":
        out["default"] = whole(row["default"]) if kind in ("integer", "number") else row["default"]
    return {**out, "description": words(row)}


def example_of(row):
    """The example of a row, as a member of a body has it."""
    kind, text = row["type"], row.get("example")
    if kind == "numbers":
        numbers = [whole(float(part)) for part in text.split(",")]
        width = row.get("row_items")
        return [numbers[i:i + width] for i in range(0, len(numbers), width)] if width else numbers
    if kind == "tensor":
        return json.loads(text) if text else [[1, 0], [0.5, 2]]
    if kind == "choices":
        return text.split(",")
    if kind in ("integer", "number"):
        return whole(float(text))
    return text == "true" if kind == "boolean" else text


def parameter_of(row, member, shown):
    """
    The query parameter of a row; `member` is the schema that a body has for it, which describes it, too. It has an
    example where it is `shown`: forms send all examples, so that these are of one request.
    """
    schema, example, style = member, example_of(row), {}
    if row["type"] in ("numbers", "choices"):
        style = {"explode": False}  # of the style form, as all of a query
    if row["type"] == "positions":
        default = {"default": row["default"]} if "default" in row and not derived(row) else {}
        schema = {**positions_text(row), **default}
    if row["type"] == "spans":
        schema = spans_text(row)
    if "row_items" in row:  # rows as text: a query has no nested lists
        line = ",".join(["[1-9][0-9]*"] * row["row_items"])
        schema = {"type": "string", "pattern": f"^{line}(;{line})*$", "maxLength": 8192}
        example, style = row["example"], {}
    required = {"required": True} if row["required"] else {}
    told = {} if schema is member else {"description": words(row)}
    return {"name": row["name"], "in": "query", **told, **required, **style, "schema": schema,
            **({"example": example} if shown else {})}


def name_parameter(row):
    """What stands in the path."""
    return {"name": row["name"], "in": "path", "description": row["description"], "required": True, "schema": NAME,
            "example": row["example"]}
