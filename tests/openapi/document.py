"""document.py - openapi.yaml, written anew from what the program tells (GET /v1)."""
import collections
import contextlib
import json
import os
import re
import subprocess
import sys
import urllib.request

from components import Components
from operations import answer_name, is_table, path_item, refer, request_name, target
from rows import example_of, name_parameter, parameter_of, schema_of

# Headers of numbers: of tables, which are kept, and of what is made of a body.
SHARED = {"Vary": "vary", "Server-Timing": "server_timing", "Cache-Control": "cache_control",
          "X-Request-Id": "request_id", "X-Tensor-Shape": "tensor_shape", "X-Tensor-Dtype": "tensor_dtype",
          "Content-Encoding": "content_encoding", "Content-Disposition": "content_disposition"}
KEPT = {"ETag": "etag", "Content-Location": "content_location", "Accept-Ranges": "accept_ranges",
        "Repr-Digest": "repr_digest"}

HEADERS = [{field: refer("headers", header) for field, header in fields.items()}
           for fields in (SHARED, {**KEPT, **SHARED})]

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
        default_in_words(components["schemas"])

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


def default_in_words(schemas):
    """That of an enumeration: for one openapi-generator writes a constant of Python that it does not declare."""
    for schema in schemas.values():
        if "enum" in schema and "default" in schema:
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


class Once(dict):
    """A map that the text has once; wherever it stands again, it is referred to."""

    def __init__(self, name, entries):
        super().__init__(entries)
        self.name = name


class Merged(dict):
    """A map that has the entries of shared maps beside its own."""

    def __init__(self, entries, groups):
        super().__init__(entries)
        self.groups = groups

    def own(self):
        shared = {key for group in self.groups for key in group}
        return {key: value for key, value in self.items() if key not in shared}


def maps_of(document):
    """(name, places) of maps that have entries in common; a place is an object, and its key that holds the map."""
    components = document["components"]
    schemas, responses = components["schemas"], components["responses"]
    operations = [item[method] for item in document["paths"].values() for method in ("get", "post") if method in item]
    of_rows = {key: schema for key, schema in schemas.items()
               if re.search("Body$|Answer$|^Tensor$|^Resolved|^rope_parameters", key) and key != "VerifyBody"}
    numbers = {key: answer for key, answer in responses.items() if "text/csv" in answer.get("content", {})}
    yield "members_with", [(schema, "properties") for schema in of_rows.values()]
    yield "body_with", [(schemas, key) for key in of_rows if key.endswith("Body")]
    yield "headers_with", [(answer, "headers") for answer in numbers.values()]
    yield "content_with", [(answer, "content") for answer in numbers.values()]
    yield "answer_with", [(responses, key) for key in numbers]
    yield "responses_with", [(operation, "responses") for operation in operations]
    yield "bodies_with", [(operation["requestBody"], "content") for operation in operations if "requestBody" in operation]
    yield "operation_with", [(item, "post") for item in document["paths"].values() if "post" in item]
    yield "text_with", [(parameter, "schema") for parameter in components["parameters"].values()
                        if "pattern" in parameter["schema"]]
    yield "values_with", [(schemas, key) for key, schema in schemas.items() if "not" in schema]


def share(document):
    """Entries that always stand together stand once, in the first of their maps, if that saves many lines."""
    for name, places in maps_of(document):
        holders = collections.defaultdict(list)
        for i, (holder, member) in enumerate(places):
            for key, value in holder[member].items():
                holders[key, str(value)].append(i)
        together = collections.defaultdict(list)
        for (key, _), where in holders.items():
            together[tuple(where)].append(key)
        groups = collections.defaultdict(list)
        for where, keys in together.items():
            if len(keys) * (len(where) - 1) > len(where) + 5:
                holder, member = places[where[0]]
                group = Once(re.sub(r"[^a-z0-9_]", "_", f"{name}_{keys[0]}".lower()),
                             {key: holder[member][key] for key in keys})
                for i in where:
                    groups[i].append(group)
        for i, its_groups in groups.items():
            holder, member = places[i]
            holder[member] = Merged(holder[member], sorted(its_groups, key=lambda group: group.name))


class Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data):
        return not isinstance(data, Once)

    def generate_anchor(self, node):
        return node.name

    def represent_merged(self, data):
        """`<<` names the shared maps; a map that has no other entries is one of them."""
        own, groups = data.own(), data.groups
        if not own and len(groups) == 1:
            return self.represent_data(groups[0])
        known = all(id(group) in self.represented_objects for group in groups)
        merge = self.represent_sequence("tag:yaml.org,2002:seq", groups, flow_style=known) if len(groups) > 1 else \
            self.represent_data(groups[0])
        self.alias_key = None  # what follows is no group
        short = known and len(str(own)) + 30 * len(groups) < 110 and (not own or is_short(own))
        node = self.represent_mapping("tag:yaml.org,2002:map", own.items(), flow_style=short)
        node.value.insert(0, (yaml.ScalarNode("tag:yaml.org,2002:merge", "<<"), merge))
        return node

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
Dumper.add_representer(Merged, Dumper.represent_merged)
Dumper.add_representer(list, Dumper.represent_list)
Dumper.add_representer(str, Dumper.represent_text)


def load(text):
    return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def described(text, told):
    """The text of openapi.yaml, anew from what the program told."""
    document = load(text)
    Document(document, told).describe()
    share(document)
    comment = "".join(line for line in text.splitlines(True) if line.startswith("#"))
    return comment + yaml.dump(document, Dumper=Dumper, width=110, sort_keys=False, allow_unicode=True)
