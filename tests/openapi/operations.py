"""operations.py - the path item of a resource: its operations and what each may answer."""
from components import words_of

# Statuses besides 200; 4XX and 5XX are problem documents, described once.
STATUSES = {
    "get": {"206": "Part", "304": "NotModified", "4XX": "Refused", "5XX": "Failed"},
    "post": {"4XX": "Refused", "5XX": "Failed"},
}
# The tag of POST beside GET: so one operation of each resource is seen first.
TWINS = "tables_by_post"


def refer(kind, key):
    return {"$ref": f"#/components/{kind}/{key}"}


def target(reference):
    """The component that a reference names, None if it is no reference."""
    return reference["$ref"].rsplit("/", 1)[-1] if "$ref" in reference else None


def camel(resource):
    return "".join(word.capitalize() for word in words_of(resource["path"]))


def request_name(resource):
    """The schema of its body."""
    return camel(resource) + "Body"


def is_table(resource):
    return "GET" in resource["methods"]


def answer_name(resource):
    """The response and the schema of an answer with tensors of its own."""
    return camel(resource) + "Answer"


def is_twin(resource, method):
    return method == "post" and is_table(resource)


def operation_name(resource, method, old):
    """The name of a method in clients: the words of the path, if a person has not said a better one."""
    today = old.get("get", old.get("post", {})).get("operationId")
    return (today or "_".join(words_of(resource["path"]))) + ("_post" if is_twin(resource, method) else "")


def words_for(resource, method):
    """Summary and description of an operation."""
    summary = resource["summary"].rstrip(".")
    if is_twin(resource, method):
        return {"summary": f"{summary} (parameters in a body)",
                "description": "Gives the same bytes as GET. Content-Location names the GET URL."}
    return {"summary": summary, "description": f"Formula: `{resource['formula']}`\n\nSource: {resource['source']}"}


# A binary body has no room for parameters. Generators of clients that take one kind of body take the first.
BINARY = "Parameters and vectors; or vectors alone (octet-stream with X-Tensor-*), the parameters being in the query."
BINARY_TYPES = ("application/x-npy", "application/vnd.safetensors", "application/octet-stream")


def request_body(resource):
    others = () if is_table(resource) else BINARY_TYPES
    return {
        "required": True,
        **({} if is_table(resource) else {"description": BINARY}),
        "content": {"application/json": {"schema": refer("schemas", request_name(resource))},
                    **{media_type: {"schema": refer("schemas", "Bytes")} for media_type in others}},
    }


def responses(method, good):
    return {"200": refer("responses", good),
            **{status: refer("responses", key) for status, key in STATUSES[method].items()}}


def operation(resource, method, query, good, old):
    return {
        "operationId": operation_name(resource, method, old),
        "tags": [TWINS if is_twin(resource, method) else resource["encoding"]],
        **words_for(resource, method),
        **({"parameters": [*query, refer("parameters", "if_none_match")]} if method == "get" else {}),
        **({"requestBody": request_body(resource)} if method == "post" else {}),
        "responses": responses(method, good),
    }


def path_item(resource, names, query, good, old):
    """`names` and `query`: references to its parameters; `good`: the response 200; `old`: the path item of today."""
    methods = [method for method in ("get", "post") if method.upper() in resource["methods"]]
    return {"parameters": [*names, refer("parameters", "x_request_id")],
            **{method: operation(resource, method, query, good, old) for method in methods}}
