"""use_python.py ADDRESS - ten operations through the client that openapi-generator makes for Python."""
import sys

import openapi_client as posenc

client = posenc.ApiClient(posenc.Configuration(host=sys.argv[1]))
rope = posenc.RopeApi(client)

table = rope.rope_table(head_dim=8, positions="0:2")
assert table.cos.shape == [2, 4], table
same = posenc.TablesByPostApi(client).rope_table_post(posenc.RopeTableBody(head_dim=8, positions="0:2"))
assert same == table, same
one = posenc.SinusoidalApi(client).sinusoidal(d_model=4, positions="0:3")
assert one.shape == [3, 4], one
rotated = rope.rope_rotate(posenc.RopeRotateBody(vectors=[[1, 0]], positions=[0]))
assert rotated.data == [[1, 0]], rotated
scores = rope.rope_scores(posenc.RopeScoresBody(q=[[1, 0]], k=[[1, 0]]))
assert scores.data == [[1]], scores
slopes = posenc.AlibiApi(client).alibi_slopes(num_heads=8)
assert slopes.shape == [8], slopes
config = {"model_type": "llama", "hidden_size": 2048, "num_attention_heads": 32}
resolved = posenc.ModelsApi(client).resolve_model(config)
assert resolved.encoding == "rope", resolved
claim = posenc.VerifyBody(encoding="sinusoidal", parameters={"d_model": 2, "positions": "0:1"}, table=[[0, 1]])
report = posenc.VerifyApi(client).verify(claim)
assert report.matches, report
try:
    refused = rope.rope_table(head_dim=8, rotary_dim=7)
    raise AssertionError(refused)
except posenc.ApiException as error:
    assert error.status == 422 and error.data.code == "invalid-parameter", error
# The plain methods know the answer's JSON alone; these leave the bytes of every other format as they are.
raw = posenc.SinusoidalApi(client).sinusoidal_without_preload_content(d_model=4, positions="0:2", format=posenc.Format("raw"))
assert len(raw.data) == 32, raw
assert posenc.OperationsApi(client).version().name == "posenc"
