"""document.py - openapi.yaml, written anew from what the program tells (GET /v1)."""
import json
import os
import subprocess
import sys
import urllib.request

from components import Components
from operations import is_table, path_item, refer, request_name, target
from rows import example_of, name_parameter, parameter_of, schema_of

try:
    import yaml
except ImportError:  # a Python in the PATH may shadow Debian's, which has PyYAML
    if sys.executable == "/usr/bin/python3":
        raise
    os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])


def listing(program):
    """What GET /v1 answers."""
    server = subprocess.Popen([program, "serve", "--port", "0", "--admin-listen="], stderr=subprocess.PIPE, text=True)
    try:
        for line in server.stderr:
            record = json.loads(line) if line.startswith("{") else {}
            if record.get("event") == "listening":
                return json.load(urllib.request.urlopen(f"http://{record['host']}:{record['port']}/v1"))
    finally:
        server.terminate()
        server.communicate()
    sys.exit("describe: the server did not start")


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
        components = self.document["components"]
        members = [self.members(resource) for resource in self.resources]
        schemas = self.schemas.settle()
        names = [self.names(resource) for resource in self.resources]
        queries = [self.query(*pair) if is_table(pair[0]) else [] for pair in zip(self.resources, members)]
        components["parameters"] = self.parameters.settle()
        for resource, its_members, its_names, query in zip(self.resources, members, names, queries):
            path = resource["path"]
            self.document["paths"][path] = path_item(resource, its_names, query, self.today.paths.get(path, {}))
            schemas[request_name(resource)] = self.body(resource, its_members)
        schemas.update(self.format_schemas())
        rows_last = sorted(schemas, key=lambda key: key if key[0].islower() else "")
        components["schemas"] = {key: schemas[key] for key in rows_last}
        self.describe_tags()
        self.describe_answers()
        plain_types(self.document)

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
        return [self.parameters.use(row, parameter_of(row, members[row["name"]]), resource["path"],
                                    today.get(row["name"]), like=target(members[row["name"]]))
                for row in self.rows(resource)]

    def body(self, resource, members):
        """The schema of a body."""
        rows = self.rows(resource)
        required = [row["name"] for row in rows if row["required"]]
        first = {row["name"]: example_of(row) for row in rows if row["required"]}
        return {
            "type": "object",
            "description": f"The parameters of {resource['path']} as members.",
            "additionalProperties": False,
            "properties": {**members, **nested(resource, members)},
            **({"required": required} if required else {}),
            "examples": self.today.body(resource).get("examples") or [first],
        }

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
        """The media types of the answers of all resources, and of parts of them."""
        responses, formats = self.document["components"]["responses"], self.told["formats"]
        others = {row["media_type"]: {"schema": refer("schemas", row["name"].capitalize())} for row in formats}
        for resource in self.resources:
            good = self.document["paths"][resource["path"]]["post"]["responses"]["200"]
            answer = responses.get(target(good), good)
            answer["content"] = {**others, "application/json": answer["content"]["application/json"]}
        in_parts = [row for row in formats if row["ranges"] or row["name"] == "json"]  # base64 has a known length
        responses["Part"]["content"] = {row["media_type"]: {"schema": refer("schemas", "Bytes")} for row in in_parts}


def plain_types(node):
    """What generators of clients need: that integers have 64 bits, and that objects without a schema are open."""
    if isinstance(node, dict):
        types = node.get("type", ())
        if "integer" in types:
            node["format"] = "int64"
        if "object" in types and "properties" not in node:
            node.setdefault("additionalProperties", True)
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, child in children:
        if key not in ("example", "examples"):
            plain_types(child)


def nested(resource, members):
    """The member that may hold the parameters of a resource, as a configuration does."""
    if "nested" not in resource:
        return {}
    plain = [row["name"] for row in resource["parameters"] if row["type"] not in ("tensor", "positions", "text")]
    return {resource["nested"]: {
        "type": "object",
        "description": "The rotary parameters as a Hugging Face configuration spells them. Each is given here or at "
                       "the top level, not in both.",
        "additionalProperties": False,
        "properties": {name: members[name] for name in plain},
    }}


# ---- the file ----


class Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data):
        return True

    def represent_map(self, data):
        return self.represent_mapping("tag:yaml.org,2002:map", data.items(), flow_style=list(data) == ["$ref"])

    def represent_list(self, data):
        short = all(not isinstance(item, (list, dict)) for item in data) and len(str(data)) < 110
        return self.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=short)

    def represent_text(self, data):
        return self.represent_scalar("tag:yaml.org,2002:str", data, style="|" if "\n" in data else None)


Dumper.add_representer(dict, Dumper.represent_map)
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
