"""operations.py - the path item of a resource: its operations and what each may answer."""
from components import words_of

RESPONSES = {
    "206": "Part",
    "304": "NotModified",
    "400": "BadRequest",
    "404": "NotFound",
    "406": "NotAcceptable",
    "408": "Timeout",
    "413": "BodyTooLarge",
    "415": "UnsupportedMediaType",
    "416": "RangeNotSatisfiable",
    "422": "Unprocessable",
    "431": "HeaderTooLarge",
    "500": "Internal",
    "503": "Overloaded",
}
# Where the server asks for keys, or has rates.
LIMITS = {"401": "Unauthorized", "403": "Forbidden", "429": "RateLimited"}
# Besides 200. Only a resource with a name in its path answers 404.
STATUSES = {
    "get": "206 304 400 404 406 416 422 431 500 503",
    "head": "304 400 404 406 422 431 500 503",
    "post": "400 404 406 408 413 415 422 431 500 503",
}
HEADERS = {
    "get": ("if_none_match", "x_request_id"),
    "head": ("if_none_match", "x_request_id"),
    "post": ("x_request_id",),
}


def refer(kind, key):
    return {"$ref": f"#/components/{kind}/{key}"}


def target(reference):
    """The component that a reference names, None if it is no reference."""
    return reference["$ref"].rsplit("/", 1)[-1] if "$ref" in reference else None


def camel(resource):
    return "".join(word.capitalize() for word in words_of(resource["path"]))


def request_name(resource):
    """The schema of its body."""
    return camel(resource) + "Request"


def is_table(resource):
    return "GET" in resource["methods"]


def words_for(resource, method):
    """Summary and description of an operation."""
    summary = resource["summary"].rstrip(".")
    if method == "head":
        return {"summary": f"Headers of: {summary}", "description": "The answer has the headers of GET and no content."}
    if method == "post" and is_table(resource):
        return {"summary": f"{summary} (parameters in a body)",
                "description": "The same parameters as members of a JSON object give the same bytes as GET. "
                               "Content-Location names the GET URL."}
    return {"summary": summary, "description": f"Formula: `{resource['formula']}`\n\nSource: {resource['source']}"}


def request_body(resource):
    return {
        "required": True,
        "description": "Parameters." if is_table(resource) else "Parameters and vectors.",
        "content": {"application/json": {"schema": refer("schemas", request_name(resource))}},
    }


def good(resource, method, old):
    """The response 200. A person says which one GET has, or POST where there is no GET; at first it has one tensor."""
    source = "get" if method == "post" and is_table(resource) else method
    first = "NumbersHead" if method == "head" else "TensorTable" if is_table(resource) else "TensorTransformed"
    return old.get(source, {}).get("responses", {}).get("200") or refer("responses", first)


def others(method, named):
    """The responses besides 200."""
    out = {}
    for status in sorted([*STATUSES[method].split(), *LIMITS]):
        if status != "404" or named:
            bare = method == "head" and status != "304"
            out[status] = refer("responses", "HeadProblem" if bare else (RESPONSES | LIMITS)[status])
    return out


def operation(resource, method, query, named, old):
    return {
        "operationId": method + camel(resource),
        "tags": [resource["encoding"]],
        **words_for(resource, method),
        "parameters": (query if method != "post" else []) + [refer("parameters", key) for key in HEADERS[method]],
        **({"requestBody": request_body(resource)} if method == "post" else {}),
        "responses": {"200": good(resource, method, old), **others(method, named)},
    }


def preflight(resource):
    return {
        "operationId": "options" + camel(resource),
        "tags": ["discovery"],
        "summary": "Preflight",
        "description": "A browser sends it before a cross-origin request.",
        "responses": {"204": refer("responses", "Preflight"), "400": refer("responses", "BadRequest")},
    }


def path_item(resource, names, query, old):
    """`names` and `query`: references to its parameters; `old`: the path item of today."""
    methods = [method.lower() for method in resource["methods"] if method != "OPTIONS"]
    item = {method: operation(resource, method, query, bool(names), old) for method in methods}
    return {**({"parameters": names} if names else {}), **item, "options": preflight(resource)}
