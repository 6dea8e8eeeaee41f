"""use_python_client.py ADDRESS - ten operations through the client that openapi-python-client makes."""
import sys

from posenc_client import Client
from posenc_client.api.alibi import alibi_slopes
from posenc_client.api.models import resolve_model
from posenc_client.api.operations import version
from posenc_client.api.rope import rope_rotate, rope_scores, rope_table
from posenc_client.api.sinusoidal import sinusoidal
from posenc_client.api.tables_by_post import rope_table_post
from posenc_client.api.verify import verify
from posenc_client.models import (Format, Problem, Resolved, ResolveModelJsonBody, RopeRotateBody,
                                  RopeScoresBody, RopeTableAnswer, RopeTableBody, Tensor, VerifyReport,
                                  VerifyBody)

client = Client(base_url=sys.argv[1])

table = rope_table.sync(client=client, head_dim=8, positions="0:2")
assert isinstance(table, RopeTableAnswer) and table.to_dict()["cos"]["shape"] == [2, 4], table
same = rope_table_post.sync(client=client, body=RopeTableBody(head_dim=8, positions="0:2"))
assert isinstance(same, RopeTableAnswer) and same.to_dict() == table.to_dict(), same
one = sinusoidal.sync(client=client, d_model=4, positions="0:3")
assert isinstance(one, Tensor) and one.shape == [3, 4], one
rotated = rope_rotate.sync(client=client, body=RopeRotateBody(vectors=[[1, 0]], positions=[0]))
assert rotated is not None and rotated.to_dict()["data"] == [[1, 0]], rotated
scores = rope_scores.sync(client=client, body=RopeScoresBody(q=[[1, 0]], k=[[1, 0]]))
assert isinstance(scores, Tensor) and scores.data == [[1]], scores
slopes = alibi_slopes.sync(client=client, num_heads=8)
assert isinstance(slopes, Tensor) and slopes.shape == [8], slopes
config = ResolveModelJsonBody.from_dict({"model_type": "llama", "hidden_size": 2048, "num_attention_heads": 32})
resolved = resolve_model.sync(client=client, body=config)
assert isinstance(resolved, Resolved) and resolved.encoding == "rope", resolved
claim = {"encoding": "sinusoidal", "parameters": {"d_model": 2, "positions": "0:1"}, "table": [[0, 1]]}
report = verify.sync(client=client, body=VerifyBody.from_dict(claim))
assert isinstance(report, VerifyReport) and report.matches, report
refused = rope_table.sync(client=client, head_dim=8, rotary_dim=7)
assert isinstance(refused, Problem) and refused.code == "invalid-parameter", refused
# A generated function reads every 200 as JSON, the first media type of the answer. The request that it makes of its
# arguments gets every other format.
request = sinusoidal._get_kwargs(d_model=4, positions="0:2", format_=Format("raw"))
raw = client.get_httpx_client().request(**request)
assert len(raw.content) == 32, raw
assert version.sync(client=client) is not None
