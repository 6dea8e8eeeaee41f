"""pairs - two independent mistakes at once. An answer is right when one finding names both."""
import rope

ROWS = {row.name: row for row in rope.TABLE_ROWS}
NAMES = [
    ("one too large", "theta 10000 where 500000 is claimed"), ("one too large", "linear missing"),
    ("one too large", "cos and sin exchanged"), ("one too large", "sin negative"), ("one too large", "amplitude 2"),
    ("one too small", "theta ten times"), ("one too small", "yarn missing"), ("one too small", "slowest first"),
    ("restarts in the middle", "theta odd"), ("restarts in the middle", "sin negative"),
    ("offset of the cache ignored", "theta ten times"), ("offset of the cache ignored", "linear of 4 that was not claimed"),
    ("offset of the cache ignored", "bfloat16 waves as float32"), ("wraps at 48", "theta odd"),
    ("stays at the last trained position", "theta ten times"), ("left padding of 5 rows at 0", "theta 10000 where 1000000 is claimed"),
    ("left padding of 7 rows counts", "linear missing"), ("rows in reverse", "theta odd"), ("rows in reverse", "cos and sin exchanged"),
    ("negative", "theta ten times"), ("negative", "amplitude 1/sqrt 2"), ("twice as large", "exponent over d - 2"),
    ("int8", "theta odd"), ("int16", "sin negative"), ("a row missing", "theta ten times"), ("two blocks exchanged", "theta odd"),
    ("bfloat16 positions", "theta ten times"), ("one too large", "bfloat16 frequencies"), ("one too large", "one row zero"),
    ("one too large", "sixteen rows of garbage"), ("one too large", "one NaN"), ("theta ten times", "one row zero"),
    ("theta ten times", "one NaN"), ("theta 10000 where 500000 is claimed", "sin negative"),
    ("theta 10000 where 500000 is claimed", "cos and sin exchanged"), ("theta ten times", "amplitude 2"),
    ("theta odd", "hf: repeated for concatenated"), ("theta odd", "columns reversed"), ("theta ten times", "bfloat16 waves as float32"),
    ("theta ten times", "int8 waves"), ("linear missing", "sin negative"), ("linear missing", "cos and sin exchanged"),
    ("linear missing", "hf: repeated for concatenated"), ("linear of another factor", "one too small"), ("ntk missing", "one too large"),
    ("yarn betas exchanged", "yarn attention factor missing"),
    ("yarn missing", "one too large"), ("yarn attention factor missing", "one too large"),
    ("yarn attention factor twice", "offset of the cache ignored"), ("yarn attention factor missing", "sin negative"),
    ("yarn original length is the new one", "yarn attention factor missing"), ("llama3 missing", "one too large"),
    ("llama3 missing", "cos and sin exchanged"), ("llama3 of another factor", "one too small"),
    ("longrope missing", "one too large"),
    ("longrope factors reversed", "longrope attention factor missing"), ("dynamic missing", "one too large"),
    ("exponent over d - 2", "sin negative"), ("exponent i/d", "one too large"), ("reciprocal frequencies", "sin negative"),
    ("last half zero", "one too large"), ("slowest first", "sin negative"), ("exponent over head_dim, not rotary_dim", "one too large"),
    ("one sign flipped", "one too large"), ("last rows not written", "theta odd"), ("cos and sin exchanged", "one row zero"),
    ("theta odd", "amplitude sqrt d"), ("offset of the cache ignored", "amplitude sqrt d"), ("amplitude 2", "one row zero"),
    ("exponent over d - 2", "amplitude 2"), ("yarn missing", "amplitude sqrt d"), ("yarn attention factor twice", "one row zero"),
    ("theta ten times", "cos negative"), ("linear missing", "both negative"), ("llama3 missing", "cos negative"),
    ("offset of the cache ignored", "both negative"), ("rows in reverse", "cos negative"), ("theta odd", "cos negative"),
    ("vllm: sin before cos", "one too large"), ("meta: conjugate", "theta ten times"),
    ("theta odd", "sixteen rows of garbage"), ("llama3 of another factor", "one NaN"), ("yarn missing", "last rows not written"),
    ("slowest first", "sixteen rows of garbage"), ("yarn attention factor missing", "one NaN"),
    ("restarts in the middle", "exponent over d - 2"), ("restarts in the middle", "even pairs before odd ones"),
    ("theta ten times", "exponent one pair later"),
    ("bfloat16 positions", "linear of 4 that was not claimed"), ("slowest first", "hf: repeated for concatenated"),
    ("most rows at the last trained position", "theta 10000 where 500000 is claimed"),
    ("most rows at the last trained position", "theta ten times"), ("most rows at the last trained position", "linear missing"),
    ("left padding not counted", "theta 10000 where 1000000 is claimed"), ("left padding not counted", "linear missing"),
    ("each position for two rows", "theta 10000 where 500000 is claimed"), ("each position for two rows", "linear missing"),
    ("every row at the first position", "linear missing"), ("every row at the first position", "ntk missing"),
    ("every row at the first position", "theta 10000 where 500000 is claimed"), ("wraps at 48", "linear missing"),
    ("offset of the cache ignored", "linear twice"), ("yarn truncate turned round", "yarn attention factor missing"),
    ("theta 10000 where 500000 is claimed", "bfloat16 positions, frequencies and angles"), ("llama3 missing", "amplitude sqrt d"),
]


def cases():
    made = []
    for number, (one, other) in enumerate(NAMES):
        row = ROWS[one] + ROWS[other]
        for v in range(2):
            case = rope.table_case(row, number, v)
            case.family = "two at once"
            made.append(case)
    return made
