"""document.py - openapi.yaml, written anew from what the program tells (GET /v1)."""
import contextlib
import json
import os
import re
import subprocess
import sys
import urllib.request

from components import Components
from operations import Once, answer_name, is_table, path_item, refer, request_name, target
from rows import example_of, name_parameter, parameter_of, schema_of

# Headers of numbers: of tables, which are kept, and of what is made of a body.
SHARED = {"Vary": "vary", "Server-Timing": "server_timing", "Cache-Control": "cache_control",
          "X-Request-Id": "request_id", "X-Tensor-Shape": "tensor_shape", "X-Tensor-Dtype": "tensor_dtype",
          "Content-Encoding": "content_encoding", "Content-Disposition": "content_disposition"}
KEPT = {"ETag": "etag", "Content-Location": "content_location", "Accept-Ranges": "accept_ranges",
        "Repr-Digest": "repr_digest"}

HEADERS = [Once(name, {field: refer("headers", header) for field, header in fields.items()})
           for name, fields in (("transformed", SHARED), ("table", {**KEPT, **SHARED}))]

try:
    import yaml
except ImportError:  # a Python in the PATH may shadow Debian's, which has PyYAML
    if sys.executable == "/usr/bin/python3":
        raise
    os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])


@contextlib.contextmanager
def serving(program, *flags):
    """The address of a server that runs meanwhile."""
    command = [program, "serve", "--port", "0", "--admin-listen=", *flags]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        records = (json.loads(line) for line in server.stderr if line.startswith("{"))
        record = next((record for record in records if record.get("event") == "listening"), None)
        if record is None:
            sys.exit("describe: the server did not start")
        yield f"http://{record['host']}:{record['port']}"
    finally:
        server.terminate()
        server.communicate()


def listing(program):
    """What GET /v1 answers."""
    with serving(program) as address:
        return json.load(urllib.request.urlopen(f"{address}/v1"))


class Today:
    """What the document says before it is written anew."""

    def __init__(self, document, resources):
        self.paths, self.components = dict(document["paths"]), document["components"]
        self.resources = {resource["path"] for resource in resources}

    def body(self, resource):
        return self.components["schemas"].get(request_name(resource), {})

    def members(self, resource):
        """{member of a body: its component}"""
        return {name: target(member) for name, member in self.body(resource).get("properties", {}).items()}

    def queries(self, resource):
        """{parameter: its component}"""
        item = self.paths.get(resource["path"], {})
        references = item.get("parameters", []) + item.get("get", {}).get("parameters", [])
        keys = [target(reference) for reference in references]
        return {self.components["parameters"][key]["name"]: key for key in keys}

    def tensors(self, resource):
        """The choices of `tensor`, None where a person has not said any."""
        member = self.body(resource).get("properties", {}).get("tensor", {})
        return self.components["schemas"].get(target(member), member).get("enum")

    def examples(self, resource):
        """The examples of a body, which people write."""
        return self.body(resource).get("examples")

    def good(self, resource):
        """The response 200 that a person chose, where the answer has no tensors of its own."""
        item = self.paths.get(resource["path"], {})
        reference = item.get("get", item.get("post", {})).get("responses", {}).get("200", {})
        return target(reference) or ("TensorTable" if is_table(resource) else "TensorTransformed")

    def parameters_by_hand(self):
        """Headers, and what a path that is no resource refers to."""
        pages = json.dumps([item for path, item in self.paths.items() if path not in self.resources])
        return {key: parameter for key, parameter in self.components["parameters"].items()
                if parameter["in"] == "header" or f'"#/components/parameters/{key}"' in pages}

    def schemas_by_hand(self):
        """All but those of rows, which alone begin with a small letter."""
        return {key: schema for key, schema in self.components["schemas"].items() if not key[0].islower()}


class Document:
    def __init__(self, document, told):
        self.document, self.told, self.resources = document, told, told["encodings"]
        self.today = Today(document, self.resources)
        self.schemas = Components("schemas", self.today.schemas_by_hand())
        self.parameters = Components("parameters", self.today.parameters_by_hand())

    def describe(self):
        components, paths = self.document["components"], self.document["paths"]
        members = [self.members(resource) for resource in self.resources]
        schemas = self.schemas.settle()
        shared = Components("schemas", schemas)
        nests = [self.nested(resource, its, shared) for resource, its in zip(self.resources, members)]
        schemas = shared.settle()
        names = [self.names(resource) for resource in self.resources]
        queries = [self.query(*pair) if is_table(pair[0]) else [] for pair in zip(self.resources, members)]
        components["parameters"] = self.parameters.settle()
        for resource, its_members, nest, its_names, query in zip(self.resources, members, nests, names, queries):
            path, good = resource["path"], self.answer(resource, schemas)
            paths[path] = path_item(resource, its_names, query, good, self.today.paths.get(path, {}))
            schemas[request_name(resource)] = self.body(resource, {**its_members, **nest})
        schemas.update(self.format_schemas())
        rows_last = sorted(schemas, key=lambda key: key if key[0].islower() else "")
        components["schemas"] = {key: schemas[key] for key in rows_last}
        first = [resource["path"] for resource in self.resources]
        self.document["paths"] = {path: paths[path] for path in [*first, *(path for path in paths if path not in first)]}
        self.describe_tags()
        self.describe_answers()
        plain_types(self.document)
        name_constants(components["schemas"])

    # -- resources --

    def rows(self, resource):
        """The rows that are members of a body: those of the resource, and those of the representation."""
        out = [row for row in resource["parameters"] if row["type"] != "name"]
        tensors = self.today.tensors(resource)
        taken = {row["name"] for row in out}
        for row in self.told["representation"]:
            size = f"figure_{row['name']}"  # a grid has a width of its own
            if row["name"] in ("width", "height"):
                out.append({**row, "name": size if row["name"] in taken else row["name"], "component": size})
            elif row["name"] != "tensor":
                out.append(row)
            elif tensors:
                out.append({**row, "choices": tensors, "example": tensors[0]})
        return out

    def members(self, resource):
        """{row: the reference to its schema}"""
        today = self.today.members(resource)
        return {row["name"]: self.schemas.use(row, schema_of(row), resource["path"], today.get(row["name"]))
                for row in self.rows(resource)}

    def names(self, resource):
        """References to what stands in the path."""
        today = self.today.queries(resource)
        return [self.parameters.use(row, name_parameter(row), resource["path"], today.get(row["name"]))
                for row in resource["parameters"] if row["type"] == "name"]

    def query(self, resource, members):
        """References to what stands in the query."""
        today = self.today.queries(resource)
        examples = (self.today.examples(resource) or [{}])[0]
        return [self.parameters.use(row, parameter_of(row, members[row["name"]], row["name"] in examples),
                                    resource["path"], today.get(row["name"]), like=target(members[row["name"]]))
                for row in self.rows(resource)]

    def nested(self, resource, members, shared):
        """The member that may hold the parameters of a resource, as a configuration does."""
        if "nested" not in resource:
            return {}
        name = resource["nested"]
        row = {"name": name, "type": "object"}
        return {name: shared.use(row, nested(resource, members), resource["path"],
                                 self.today.members(resource).get(name))}

    def body(self, resource, members):
        """The schema of a body."""
        rows = self.rows(resource)
        required = [row["name"] for row in rows if row["required"]]
        first = {row["name"]: example_of(row) for row in rows if row["required"]}
        return {
            "type": "object",
            "description": f"The parameters of {resource['path']} as members.",
            "additionalProperties": False,
            "properties": members,
            **({"required": required} if required else {}),
            "examples": self.today.examples(resource) or [first],
        }

    def answer(self, resource, schemas):
        """
        The response 200. Where the answer has tensors of its own, its schema names them; what a person adds to the
        schema stays.
        """
        tensors = self.today.tensors(resource)
        if not tensors:
            return self.today.good(resource)
        key = answer_name(resource)
        old = self.today.components["schemas"].get(key, {})
        alone = ["dtype", "shape", "data", "byte_order"] if not is_table(resource) else []
        shared = schemas["Tensor"]["properties"]
        if not isinstance(shared["parameters"], Once):
            shared["parameters"] = Once("parameters", shared["parameters"])
        first = {name: shared[name] for name in ["encoding", "parameters", *alone]}
        schemas[key] = {"type": "object", "description": f"The answer of {resource['path']}.",
                        "required": ["encoding", "parameters"], **old, "additionalProperties": True,
                        "properties": {**first, **{name: refer("schemas", "NamedTensor") for name in tensors},
                                       **old.get("properties", {}), **first, "warnings": refer("schemas", "Warnings")}}
        self.document["components"]["responses"][key] = {
            "description": "The numbers in the chosen format.",
            "headers": HEADERS[is_table(resource)],
            "content": {"application/json": {"schema": refer("schemas", key)}},
        }
        return key

    def describe_tags(self):
        """Every encoding has a tag."""
        tags = self.document["tags"]
        for resource in self.resources:
            if resource["encoding"] not in [tag["name"] for tag in tags]:
                tags.append({"name": resource["encoding"], "description": resource["summary"]})

    # -- formats --

    def format_schemas(self):
        """One for each format; the schema of a JSON answer is the resource's."""
        return {row["name"].capitalize(): {"type": "string",
                                           **({} if row["media_type"].startswith(("text/", "image/svg")) else {"format": "binary"}),
                                           "description": row["description"]}
                for row in self.told["formats"] if row["name"] != "json"}

    def describe_answers(self):
        """The media types of the answers of all resources, and of refusals: a picture, where one was asked for."""
        responses, formats = self.document["components"]["responses"], self.told["formats"]
        others = {row["media_type"]: {"schema": refer("schemas", row["name"].capitalize())} for row in formats}
        responses["TensorTransformed"]["headers"], responses["TensorTable"]["headers"] = HEADERS
        refused = responses["Refused"]["content"]
        refused.update({kind: other for kind, other in others.items() if kind.startswith("image/")})
        for resource in self.resources:
            good = self.document["paths"][resource["path"]]["post"]["responses"]["200"]
            answer = responses.get(target(good), good)
            answer["content"] = {**others, "application/json": answer["content"]["application/json"]}


def plain_types(node):
    """What generators of clients need: that integers have 64 bits, and that objects without a schema are open."""
    if isinstance(node, dict):
        types = node.get("type", ())
        if types == "integer":
            node["format"] = "int64"
        if "object" in types and "properties" not in node:
            node.setdefault("additionalProperties", True)
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, child in children:
        if key not in ("example", "examples"):
            plain_types(child)


def name_constants(schemas):
    """The constants of enumerations: those of a Go package share its names, so each begins with its enumeration's. A
    default is told in words: for one openapi-generator writes a constant of Python that it does not declare."""
    for key, schema in schemas.items():
        if "enum" in schema:
            schema["x-enum-varnames"] = [re.sub(r"[^A-Z0-9]", "_", f"{key}_{value}".upper()) for value in schema["enum"]]
            if "default" in schema:
                schema["description"] = f"{schema.get('description', '')} Default: {schema.pop('default')}.".strip()


def nested(resource, members):
    """The schema of the member that holds the parameters of a resource."""
    plain = [row["name"] for row in resource["parameters"] if row["type"] not in ("tensor", "positions", "text")]
    return {
        "type": "object",
        "description": "The rotary parameters as a Hugging Face configuration spells them. Each is given here or at "
                       "the top level, not in both.",
        "additionalProperties": False,
        "properties": {name: members[name] for name in plain},
    }


# ---- the file ----


def is_short(node, levels=3):
    """Does this map fit into one line, with few levels in it?"""
    if isinstance(node, dict):
        return levels > 0 and 0 < len(str(node)) < 110 and all(is_short(child, levels - 1) for child in node.values())
    if isinstance(node, list):
        return not any(isinstance(item, (dict, list)) for item in node)
    return "\n" not in str(node)


class Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data):
        return not isinstance(data, Once)

    def generate_anchor(self, node):
        return node.name

    def represent_map(self, data):
        row = data.get("in") == "query" and "description" not in data
        flow = list(data) == ["$ref"] or row or is_short(data)
        node = self.represent_mapping("tag:yaml.org,2002:map", data.items(), flow_style=flow)
        node.name = getattr(data, "name", None)
        return node

    def represent_list(self, data):
        words = not any(isinstance(item, (list, dict)) or " " in str(item) for item in data) or \
            len(data) == 1 and list(data[0]) == ["$ref"]
        short = words or is_short(data) and len(str(data)) < 110
        return self.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=short)

    def represent_text(self, data):
        return self.represent_scalar("tag:yaml.org,2002:str", data, style="|" if "\n" in data else None)


Dumper.add_representer(dict, Dumper.represent_map)
Dumper.add_representer(Once, Dumper.represent_map)
Dumper.add_representer(list, Dumper.represent_list)
Dumper.add_representer(str, Dumper.represent_text)


def load(text):
    return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def described(text, told):
    """The text of openapi.yaml, anew from what the program told."""
    document = load(text)
    Document(document, told).describe()
    comment = "".join(line for line in text.splitlines(True) if line.startswith("#"))
    return comment + yaml.dump(document, Dumper=Dumper, width=110, sort_keys=False, allow_unicode=True)
