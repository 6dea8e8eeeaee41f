/* SPDX-License-Identifier: MIT */
/* patterns.c - what may stand in the place of a claimed element of pairs, as rows. */
#include "verify/patterns.h"

#include <math.h>
#include <string.h>

/* Of the angle, for the slope of a pattern there. */
#define LEAST_TURN 0x1p-22

/* A pair of a row: its wave, and of vectors the channels that it turns. */
typedef struct wave {
    double cosine, sine, angle, amplitude;
    double a, b;
} wave;

/* What the pair's two elements are. */
typedef struct two {
    double first, second;
} two;

/* A place in a table of n columns and m rows. */
typedef struct place {
    size_t row, column;
} place;

typedef enum scope { TABLES, VECTORS, BOTH } scope;

struct pe_pattern {
    pe_fault fault;
    scope of;
    two (*make)(const wave *at);
    /* Or: which claimed element stands there. False: none does, and it is zero. */
    bool (*from)(const pe_beside *b, size_t n, place *at);
    /* Or: the uploaded element as it should have been read. */
    double (*reread)(pe_dtype dtype, double got);
    /* Of a vector: which pair's wave turns a channel, or which channel is turned instead. */
    size_t (*wave_of)(const pe_beside *b, size_t pair, bool second);
    size_t (*channel_of)(const pe_beside *b, size_t channel);
    /* Or: where the other channel of a pair is, that of an earlier layout. False: it passes. */
    bool (*pair_of)(const pe_beside *b, size_t column, size_t *pair, size_t *partner);
    /* Or: is the element so? */
    bool (*is_so)(const pe_beside *b, place at);
    bool of_inputs; /* `from` takes vectors before they are rotated */
    bool of_rows;   /* `from` moves rows as a whole */
};

/* ---- waves ---- */

static two both_negative(const wave *x)
{
    return (two){-x->cosine, -x->sine};
}

static two cosine_negative(const wave *x)
{
    return (two){-x->cosine, x->sine};
}

static two sine_negative(const wave *x)
{
    return (two){x->cosine, -x->sine};
}

static two exchanged(const wave *x)
{
    return (two){x->sine, x->cosine};
}

static two absolute(const wave *x)
{
    return (two){fabs(x->cosine), fabs(x->sine)};
}

static two absolute_sine(const wave *x)
{
    return (two){x->cosine, fabs(x->sine)};
}

static two squares(const wave *x)
{
    return (two){x->cosine * x->cosine, x->sine * x->sine};
}

static two tangent(const wave *x)
{
    return (two){x->cosine, x->amplitude * x->sine / x->cosine};
}

static two angles(const wave *x)
{
    return (two){x->angle, x->angle};
}

static two in_unit(const wave *x)
{
    return (two){(1 + x->cosine) / 2, (1 + x->sine) / 2};
}

static two sine_in_place(const wave *x)
{
    return (two){cos(x->sine), x->sine};
}

static two sum_in_cosine(const wave *x)
{
    return (two){x->cosine + x->sine, x->sine};
}

static two doubled_sine(const wave *x)
{
    return (two){x->cosine, 2 * x->sine * x->cosine / x->amplitude};
}

static two sine_twice(const wave *x)
{
    return (two){x->sine, x->sine};
}

static two cosine_twice(const wave *x)
{
    return (two){x->cosine, x->cosine};
}

static two still(const wave *x)
{
    return (two){x->amplitude, 0};
}

static two zero(const wave *x)
{
    (void)x;
    return (two){0, 0};
}

/* ---- turned vectors ---- */

static two without_minus(const wave *x)
{
    return (two){x->a * x->cosine + x->b * x->sine, x->b * x->cosine + x->a * x->sine};
}

static two with_two_minuses(const wave *x)
{
    return (two){x->a * x->cosine - x->b * x->sine, x->b * x->cosine - x->a * x->sine};
}

static two overwritten(const wave *x)
{
    const double first = x->a * x->cosine - x->b * x->sine;
    return (two){first, x->b * x->cosine + first * x->sine};
}

static two cosine_alone(const wave *x)
{
    return (two){x->a * x->cosine, x->b * x->cosine};
}

static two waves_exchanged(const wave *x)
{
    return (two){x->a * x->sine - x->b * x->cosine, x->b * x->sine + x->a * x->cosine};
}

static two turned_back(const wave *x)
{
    return (two){x->a * x->cosine + x->b * x->sine, x->b * x->cosine - x->a * x->sine};
}

static two turned_negative(const wave *x)
{
    return (two){x->b * x->sine - x->a * x->cosine, -x->b * x->cosine - x->a * x->sine};
}

static two not_turned(const wave *x)
{
    return (two){x->a, x->b};
}

static two channels_exchanged(const wave *x)
{
    return (two){x->b * x->cosine + x->a * x->sine, x->a * x->cosine - x->b * x->sine};
}

/* ---- places ---- */

static bool reversed(const pe_beside *b, size_t n, place *at)
{
    (void)b;
    at->column = n - 1 - at->column;
    return true;
}

static bool rolled_on(const pe_beside *b, size_t n, place *at)
{
    (void)b;
    at->column = (at->column + n - 1) % n;
    return true;
}

static bool rolled_back(const pe_beside *b, size_t n, place *at)
{
    (void)b;
    at->column = (at->column + 1) % n;
    return true;
}

static bool halves_exchanged(const pe_beside *b, size_t n, place *at)
{
    (void)b;
    at->column = (at->column + n / 2) % n;
    return n % 2 == 0;
}

static bool neighbours(const pe_beside *b, size_t n, place *at)
{
    (void)b;
    at->column ^= 1;
    return n % 2 == 0;
}

static bool interleaved(const pe_beside *b, size_t n, place *at)
{
    (void)b;
    at->column = at->column / 2 + at->column % 2 * (n / 2);
    return n % 2 == 0;
}

static bool deinterleaved(const pe_beside *b, size_t n, place *at)
{
    (void)b;
    at->column = at->column % (n / 2) * 2 + at->column / (n / 2);
    return n % 2 == 0;
}

static bool lower_copied(const pe_beside *b, size_t n, place *at)
{
    (void)b;
    at->column %= n / 2;
    return n % 2 == 0;
}

static bool upper_copied(const pe_beside *b, size_t n, place *at)
{
    (void)b;
    at->column = n / 2 + at->column % (n / 2);
    return n % 2 == 0;
}

static bool second_half_rolled(const pe_beside *b, size_t n, place *at)
{
    const size_t half = n / 2;
    (void)b;
    if (at->column >= half)
        at->column = half + (at->column - half + half - 1) % half;
    return n % 2 == 0;
}

static bool transposed(const pe_beside *b, size_t n, place *at)
{
    const size_t e = at->row * n + at->column;
    *at = (place){e % b->rows, e / b->rows};
    return b->rows > 1;
}

static bool stride_longer(const pe_beside *b, size_t n, place *at)
{
    const size_t e = at->row * n + at->column;
    (void)b;
    *at = (place){e / (n + 1), e % (n + 1)};
    return at->column < n;
}

static bool stride_shorter(const pe_beside *b, size_t n, place *at)
{
    const size_t e = at->row * n + at->column;
    *at = (place){e / (n - 1), e % (n - 1)};
    return at->row < b->rows;
}

/* Rows of one head and item. */
static size_t line_of(const pe_beside *b, size_t *first, size_t row)
{
    const pe_upload_view *view = b->view;
    const size_t all = view->batch_tokens * view->inner;
    *first = row / all * all;
    return all;
}

static bool row_before(const pe_beside *b, size_t n, place *at)
{
    size_t first;
    const size_t all = line_of(b, &first, at->row);
    (void)n;
    at->row = first + (at->row - first + all - b->view->inner) % all;
    return true;
}

static bool row_behind(const pe_beside *b, size_t n, place *at)
{
    size_t first;
    const size_t all = line_of(b, &first, at->row);
    (void)n;
    at->row = first + (at->row - first + b->view->inner) % all;
    return true;
}

/* Heads and tokens of an item as if their axes were in the other order. */
static bool heads_mixed(const pe_beside *b, size_t n, place *at)
{
    const size_t tokens = b->view->batch_tokens, heads = b->heads, all = tokens * heads;
    const size_t first = at->row / all * all, e = at->row - first;
    (void)n;
    at->row = first + e % heads * tokens + e / heads;
    return heads > 1 && b->view->inner == 1;
}

/* ---- the wrong waves, the wrong channels ---- */

static size_t other_layout(const pe_beside *b, size_t pair, bool second)
{
    if (b->at.stride == 2)
        return (2 * pair + second) % b->pairs;
    return (pair + (second ? b->pairs : 0)) / 2;
}

static size_t permuted_channel(const pe_beside *b, size_t channel)
{
    const size_t n = 2 * b->pairs;
    if (channel >= n)
        return channel;
    return b->at.stride == 2 ? channel / 2 + channel % 2 * b->pairs
                             : channel % b->pairs * 2 + channel / b->pairs;
}

static size_t permuted_back(const pe_beside *b, size_t channel)
{
    const size_t n = 2 * b->pairs;
    if (channel >= n)
        return channel;
    return b->at.stride == 2 ? channel % b->pairs * 2 + channel / b->pairs
                             : channel / 2 + channel % 2 * b->pairs;
}

/* Channels i and i + head_dim/2 are a pair, though fewer are turned. */
static bool apart(const pe_beside *b, size_t column, size_t *pair, size_t *partner)
{
    const size_t half = b->width / 2;
    *pair = column % half;
    *partner = column < half ? column + half : column - half;
    return b->width % 2 == 0 && b->pairs < half && *pair < b->pairs;
}

/* The last channels are turned, not the first. */
static bool at_tail(const pe_beside *b, size_t column, size_t *pair, size_t *partner)
{
    const size_t n = 2 * b->pairs, first = b->width - n, at = column - first;
    if (n >= b->width || column < first)
        return false;
    *pair = b->at.stride == 2 ? at / 2 : at % b->pairs;
    *partner = first + (b->at.stride == 2 ? at ^ 1 : (at + b->pairs) % n);
    return true;
}

/* ---- bytes ---- */

static double swapped(pe_dtype dtype, double got)
{
    unsigned char bytes[8], back[8];
    const size_t n = pe_dtype_bytes(dtype);
    pe_dtype_store(dtype, got, bytes);
    for (size_t k = 0; k < n; k++)
        back[k] = bytes[n - 1 - k];
    return pe_dtype_load(dtype, back);
}

static double misread(pe_dtype dtype, double got)
{
    unsigned char bytes[8];
    pe_dtype_store(dtype, got, bytes);
    return dtype == PE_FLOAT16    ? pe_dtype_load(PE_BFLOAT16, bytes)
           : dtype == PE_BFLOAT16 ? pe_dtype_load(PE_FLOAT16, bytes)
                                  : nan("");
}

/* Cut towards zero, so that up to a whole unit of the last place is missing. */
static bool is_cut(const pe_beside *b, place at)
{
    const size_t e = at.row * b->width + at.column;
    const pe_dtype dtype = b->view->claim->uploads[0].array.dtype;
    const double x = b->want[e], got = pe_beside_got(b, at.row, at.column);
    const double missing = x < 0 ? got - x : x - got;
    return missing >= -b->slack[e] &&
           missing <= b->slack[e] + pe_grain_ulp(pe_grain_of_dtype(dtype), x) &&
           (dtype == PE_BFLOAT16 || dtype == PE_FLOAT16);
}

/* ---- the rows ---- */

#define WAVE(NAME, RULE, REMEDY, MAKE)                                                             \
    {                                                                                              \
        .fault = {.name = (NAME), .rule = (RULE), .remedy = (REMEDY)}, .of = TABLES,               \
        .make = (MAKE)                                                                             \
    }
#define TURN(NAME, RULE, REMEDY, MAKE)                                                             \
    {                                                                                              \
        .fault = {.name = (NAME), .rule = (RULE), .remedy = (REMEDY)}, .of = VECTORS,              \
        .make = (MAKE)                                                                             \
    }
#define PLACE(NAME, RULE, REMEDY, FROM)                                                            \
    {                                                                                              \
        .fault = {.name = (NAME), .rule = (RULE), .remedy = (REMEDY)}, .of = BOTH, .from = (FROM)  \
    }
#define COPY   "keep the order of the columns when tables are concatenated or repeated"
#define HALF   "turn by x cos(a) + rotate(x) sin(a) with rotate(x) = (-x2, x1)"
#define SIGN   "check the sign where the waves are made or unpacked"
#define WRITE  "look at what writes them: a mask, a slice, a loop that ends early"
#define MEMORY "check shape, strides and contiguity of what was written"

static const pe_pattern patterns[] = {
    {.fault = {"elements_zero", "elements are zero, or were not written", .remedy = WRITE},
     .of = BOTH,
     .make = zero},
    TURN("not_rotated", "vectors were not rotated, they pass as they came", "apply the rotation",
         not_turned),
    TURN("inverse", "the rotation was the inverse one: angles were negative",
         "take the sine's sign as in x cos(a) + rotate(x) sin(a)", turned_back),
    TURN("rotated_negated", "rotated vectors have the opposite sign, they are negated", SIGN,
         turned_negative),
    TURN("sign_missing", "rotate_half has no minus: both products are added, no sign is negative",
         HALF, without_minus),
    TURN("sign_twice", "rotate_half has two minuses: both sines are negative (sign)", HALF,
         with_two_minuses),
    TURN("overwritten_in_place",
         "the first number of each pair was overwritten in place before the second was made",
         "keep the old first number until the second has been made", overwritten),
    TURN("cosine_alone", "only the products with cosines are there: the sines are missing", HALF,
         cosine_alone),
    TURN("cos_sin_exchanged", "vectors were turned with cosines and sines exchanged",
         "exchange cosines and sines where they are unpacked", waves_exchanged),
    TURN("channels_exchanged", "the two channels of each pair are exchanged in the output", COPY,
         channels_exchanged),
    WAVE("sine_negative", "sines have the opposite sign", SIGN, sine_negative),
    WAVE("cosine_negative", "cosines have the opposite sign: they are negated", SIGN,
         cosine_negative),
    WAVE("waves_negative",
         "cosines and sines have the opposite sign: both were negated, or pi added to the angle",
         SIGN, both_negative),
    WAVE("cos_sin_exchanged", "cosines and sines are exchanged",
         "exchange cosines and sines where they are unpacked", exchanged),
    WAVE("sine_for_cosine", "sines stand in the place of cosines, too",
         "take the cosine of the same angle", sine_twice),
    WAVE("cosine_for_sine", "cosines stand in the place of sines, too",
         "take the sine of the same angle", cosine_twice),
    WAVE("absolute_sine", "sines have lost their sign: absolute values, as of sqrt(1 - cos^2)",
         "take the sine itself", absolute_sine),
    WAVE("absolute", "cosines and sines are absolute values: their sign is lost",
         "take cosines and sines as they are", absolute),
    WAVE("squares", "waves are squared: each is multiplied by itself",
         "take cosines and sines as they are", squares),
    WAVE("tangent", "the tangent stands in the place of the sine", "take the sine", tangent),
    WAVE("angles", "angles stand in the place of waves: no cosine or sine was taken of them",
         "take cosines and sines of the angles", angles),
    WAVE("unit_interval", "waves were mapped from [-1, 1] to [0, 1]: halved, with 0.5 added",
         "take cosines and sines as they are", in_unit),
    WAVE("overwritten_in_place",
         "the cosine was taken of the sine, not of the angle, which was overwritten in place",
         "keep the angle until both waves have been made", sine_in_place),
    WAVE("sum_for_cosine", "the sum of cosine and sine stands in the place of the cosine",
         "take the cosine", sum_in_cosine),
    WAVE("sine_of_double",
         "sines are those of twice the angle, cosines are not: angles were scaled by 2",
         "take both waves of one angle", doubled_sine),
    WAVE("no_turn", "pairs do not turn: cosines are constant (1), sines zero",
         "make frequencies and positions for all rows and pairs", still),
    PLACE("columns_reversed", "columns (channels) are in reverse order", COPY, reversed),
    PLACE("columns_rolled", "columns (channels) are rolled: each holds the one before it", COPY,
          rolled_on),
    PLACE("columns_rolled", "columns (channels) are rolled: each holds the one behind it", COPY,
          rolled_back),
    PLACE("column_halves_exchanged", "the halves of the columns (channels) are exchanged", COPY,
          halves_exchanged),
    PLACE("column_neighbours", "neighbouring columns (channels) are exchanged", COPY, neighbours),
    PLACE("columns_interleaved",
          "the layout is interleaved: columns (channels) of the two halves alternate", COPY,
          interleaved),
    PLACE("columns_concatenated",
          "the layout is concatenated: even columns (channels) stand before odd ones", COPY,
          deinterleaved),
    PLACE("columns_copied", "the upper half of the columns is a copy of the lower one, repeated",
          COPY, lower_copied),
    PLACE("columns_copied", "the lower half of the columns is a copy of the upper one, repeated",
          COPY, upper_copied),
    PLACE("second_half_rolled",
          "the second half of the columns (channels) is rolled by one: its layout is another one",
          COPY, second_half_rolled),
    PLACE("transposed", "the tensor is transposed: bytes are in the order of its columns", MEMORY,
          transposed),
    PLACE("row_stride", "rows were written with a stride of one element more", MEMORY,
          stride_longer),
    PLACE("row_stride", "rows were written with a stride of one element less", MEMORY,
          stride_shorter),
    {.fault = {"rows_rolled",
               "rows (tokens) are rolled: each holds the one before it, shifted by one",
               .remedy = "check the slice of positions or tokens"},
     .of = BOTH,
     .from = row_before,
     .of_rows = true},
    {.fault = {"rows_rolled",
               "rows (tokens) are rolled: each holds the one behind it, shifted by one",
               .remedy = "check the slice of positions or tokens"},
     .of = BOTH,
     .from = row_behind,
     .of_rows = true},
    {.fault = {"axes_mixed",
               "heads and tokens are mixed: the axes (seq_axis) were reshaped, not transposed",
               .remedy = "transpose axes of heads and tokens; do not reshape them"},
     .of = VECTORS,
     .from = heads_mixed,
     .of_rows = true},
    {.fault = {"axes_mixed",
               "vectors of other heads and tokens were rotated: axes (seq_axis) were reshaped, "
               "not transposed",
               .remedy = "transpose axes of heads and tokens; do not reshape them"},
     .of = VECTORS,
     .from = heads_mixed,
     .of_inputs = true},
    {.fault = {"pairs_apart",
               "channels i and i + head_dim/2 were turned as a pair, not i and i + rotary_dim/2: "
               "the layout of a whole head",
               .remedy = "slice the first rotary_dim channels before rotate_half"},
     .of = VECTORS,
     .pair_of = apart},
    {.fault = {"tail_turned",
               "the last rotary_dim channels were turned, not the first: the rotary slice is the "
               "tail, the rest passes",
               .remedy = "rotate x[..., :rotary_dim], or claim rotary_offset"},
     .of = VECTORS,
     .pair_of = at_tail},
    {.fault = {"waves_repeated",
               "channels were turned by waves of another layout: repeated where they should be "
               "concatenated, or the reverse",
               .remedy = "lay out cosines and sines as the channels are paired"},
     .of = VECTORS,
     .wave_of = other_layout},
    {.fault = {"channels_permuted",
               "channels were permuted between the layouts half and interleaved before they were "
               "turned",
               .remedy = "permute the weights of queries and keys only for the other pairing"},
     .of = VECTORS,
     .channel_of = permuted_channel},
    {.fault = {"channels_permuted",
               "channels were permuted from one layout to the other (half, interleaved) before "
               "they were turned",
               .remedy = "permute the weights of queries and keys only for the other pairing"},
     .of = VECTORS,
     .channel_of = permuted_back},
    {.fault = {"elements_cut", "elements were cut to the bits of bfloat16 or float16, not rounded",
               .remedy = "round to nearest: do not drop the low half of a float32"},
     .of = TABLES,
     .is_so = is_cut},
    {.fault = {"byte_order", "the bytes of each element are swapped: big-endian for little-endian",
               .remedy = "write little-endian bytes"},
     .of = BOTH,
     .reread = swapped},
    {.fault = {"misread_type",
               "bytes were read as another type: bfloat16 and float16 were taken for each other",
               .remedy = "name the dtype that the bytes have"},
     .of = BOTH,
     .reread = misread},
};
const size_t pe_patterns_n = PE_LEN(patterns);

const pe_fault *pe_patterns_fault(size_t pattern)
{
    return &patterns[pattern].fault;
}

bool pe_patterns_applies(size_t pattern, const pe_beside *b)
{
    const pe_pattern *p = &patterns[pattern];
    const bool rotated = b->view->rotated;
    if ((p->of == TABLES && rotated) || (p->of == VECTORS && !rotated))
        return false;
    return b->whole || p->from == NULL || p->of_inputs;
}

/* ---- is it so? ---- */

bool pe_patterns_is_claimed(const pe_beside *b, size_t row, size_t column)
{
    const double x = b->want[row * b->width + column], got = pe_beside_got(b, row, column);
    return fabs(got - x) <= b->slack[row * b->width + column] + pe_beside_rounding(b, x);
}

/* The pair's wave, of an angle that is `more` larger. */
static wave wave_at(const pe_beside *b, size_t row, size_t pair, double more)
{
    const size_t at = row * b->pairs + pair;
    const double c = b->cosine[at], s = b->sine[at];
    return (wave){.cosine = c - more * s,
                  .sine = s + more * c,
                  .angle = b->angle[at] + more,
                  .amplitude = b->amplitude};
}

static double element_of(const pe_pattern *p, const wave *x, bool second)
{
    const two made = p->make(x);
    return second ? made.second : made.first;
}

static double number_at(const pe_pattern *p, const pe_beside *b, place at, double more)
{
    const pe_geometry *g = &b->at;
    const size_t pair = b->pair[at.column];
    const bool second = b->second[at.column];
    const size_t of = p->wave_of != NULL ? p->wave_of(b, pair, second) : pair;
    wave x = wave_at(b, at.row, of, more);
    if (b->view->rotated) {
        size_t first = g->cos_at + pair * g->stride, other = g->sin_at + pair * g->stride;
        first = p->channel_of != NULL ? p->channel_of(b, first) : first;
        other = p->channel_of != NULL ? p->channel_of(b, other) : other;
        x.a = pe_beside_input(b, at.row, first);
        x.b = pe_beside_input(b, at.row, other);
    }
    if (p->make != NULL)
        return element_of(p, &x, second);
    return second ? x.b * x.cosine + x.a * x.sine : x.a * x.cosine - x.b * x.sine;
}

/* A channel that is not rotated. */
static bool is_passed(const pe_pattern *p, const pe_beside *b, place at)
{
    const double got = pe_beside_got(b, at.row, at.column);
    if (p->make == zero)
        return got == 0;
    if (p->make == turned_negative && b->view->rotated)
        return got == -pe_beside_input(b, at.row, at.column);
    return pe_patterns_is_claimed(b, at.row, at.column);
}

static bool is_apart(const pe_pattern *p, const pe_beside *b, place at)
{
    size_t pair, partner;
    const double got = pe_beside_got(b, at.row, at.column);
    const double own = pe_beside_input(b, at.row, at.column);
    if (!p->pair_of(b, at.column, &pair, &partner))
        return got == own;
    const wave w = wave_at(b, at.row, pair, 0);
    const double other = pe_beside_input(b, at.row, partner);
    const double x = own * w.cosine + (partner < at.column ? other : -other) * w.sine;
    const double size = fabs(own) + fabs(other);
    return fabs(got - x) <= 0x1p-16 * size + 4 * pe_beside_rounding(b, size);
}

static bool is_made(const pe_pattern *p, const pe_beside *b, place at)
{
    const double got = pe_beside_got(b, at.row, at.column);
    if (b->pair[at.column] == SIZE_MAX)
        return is_passed(p, b, at);
    const double x = number_at(p, b, at, 0);
    const double turn =
        b->slack[at.row * b->width + at.column] / (b->amplitude > 0 ? b->amplitude : 1);
    const double gain = fabs(number_at(p, b, at, LEAST_TURN) - x) / LEAST_TURN;
    return fabs(got - x) <= turn * (1 + gain) + 2 * pe_beside_rounding(b, x);
}

/* The columns of a tensor, or of the channels that are turned. */
static bool tensor_of(const pe_beside *b, size_t column, size_t *first, size_t *n)
{
    const pe_upload_view *view = b->view;
    size_t t = 0;
    if (view->rotated) {
        *first = 0;
        *n = 2 * b->pairs;
        return column < *n;
    }
    while (t + 1 < view->n_tensors && column >= view->tensor_at[t + 1])
        t++;
    *first = view->tensor_at[t];
    *n = view->tensor_at[t + 1] - *first;
    return *n > 1;
}

/* A vector of another row, turned by the wave of this one. */
static double turned_input(const pe_beside *b, size_t row, size_t of, size_t column)
{
    const pe_geometry *g = &b->at;
    const size_t pair = b->pair[column];
    if (pair == SIZE_MAX)
        return pe_upload_view_at(b->view, true, of, column);
    const wave x = wave_at(b, row, pair, 0);
    const double first = pe_upload_view_at(b->view, true, of, g->cos_at + pair * g->stride);
    const double other = pe_upload_view_at(b->view, true, of, g->sin_at + pair * g->stride);
    return b->second[column] ? other * x.cosine + first * x.sine
                             : first * x.cosine - other * x.sine;
}

static bool is_from(const pe_pattern *p, const pe_beside *b, place at)
{
    size_t first, n;
    const double got = pe_beside_got(b, at.row, at.column);
    place of = at;
    if (p->of_inputs) {
        of.row = b->row[at.row];
        if (!p->from(b, b->width, &of))
            return false;
        const double x = turned_input(b, at.row, of.row, at.column);
        return fabs(got - x) <=
               4 * (b->slack[at.row * b->width + at.column] + pe_beside_rounding(b, x));
    }
    if (p->of_rows) {
        first = 0;
        n = b->width;
    } else if (!tensor_of(b, at.column, &first, &n)) {
        return pe_patterns_is_claimed(b, at.row, at.column);
    }
    of.column -= first;
    if (!p->from(b, n, &of))
        return got == 0;
    if (of.row >= b->rows || of.column >= n)
        return false;
    const size_t e = of.row * b->width + first + of.column;
    return fabs(got - b->want[e]) <= 2 * (b->slack[e] + pe_beside_rounding(b, b->want[e]));
}

bool pe_patterns_is_near(size_t pattern, const pe_beside *b, size_t row, size_t column)
{
    const pe_pattern *p = &patterns[pattern];
    const place at = {row, column};
    if (p->reread != NULL) {
        const size_t e = row * b->width + column;
        const double x =
            p->reread(b->view->claim->uploads[0].array.dtype, pe_beside_got(b, row, column));
        const double slack = b->slack[e] + 16 * pe_beside_rounding(b, b->want[e]);
        return fabs(x - b->want[e]) <= slack;
    }
    return p->is_so != NULL     ? p->is_so(b, at)
           : p->from != NULL    ? is_from(p, b, at)
           : p->pair_of != NULL ? is_apart(p, b, at)
                                : is_made(p, b, at);
}
