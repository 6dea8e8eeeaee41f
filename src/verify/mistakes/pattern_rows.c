/* SPDX-License-Identifier: MIT */
/* pattern_rows.c - what the numbers of a pair may have become, and what may stand in their place. */
#include "verify/mistakes/patterns.h"

#include <math.h>

/* ---- numbers ---- */

#define STEPS(OF, ...)                                                                             \
    PE_ROW(quantised, .fault.rule = "elements were quantised to " OF, .of = PE_TABLES,             \
           .steps = {__VA_ARGS__})
#define UINT8(SCALE, ZERO)                                                                         \
    STEPS("uint8, with a scale of 1/" #SCALE " and a zero point of " #ZERO, SCALE, ZERO, 0, 255)

/* One row tells nothing of other positions. */
static bool is_constant(const pe_beside *b, pe_pattern_place at)
{
    return b->rows > 1 && pe_beside_got(b, at.row, at.column) == b->got[0];
}

/* ---- whole rows, bytes ---- */

/* Its length is 1 then, or its mean square. */
static bool is_normalized(const pe_beside *b, pe_pattern_place at)
{
    double squares = 0;
    const double *want = &b->want[at.row * b->width], got = pe_beside_got(b, at.row, at.column);
    for (size_t c = 0; c < b->width; c++)
        squares += want[c] * want[c];
    const double x = want[at.column] / sqrt(squares), root = sqrt((double)b->width);
    const double slack =
        b->slack[at.row * b->width + at.column] / sqrt(squares) + 0x1p-18 * fabs(x);
    return fabs(got - x) <= slack + 2 * pe_beside_rounding(b, x) ||
           fabs(got - root * x) <= root * slack + 2 * pe_beside_rounding(b, root * x);
}

/* The ladder goes on where it should begin anew, in the second copy of all pairs. */
static bool goes_on(const pe_beside *b, pe_pattern_place at)
{
    const pe_geometry *g = &b->at;
    const bool sine = b->second[at.column];
    if (g->copy != b->pairs || b->pairs < 2 || b->pair[at.column] == SIZE_MAX)
        return false;
    if (at.column < (sine ? g->sin_at : g->cos_at) + g->copy)
        return pe_beside_is_claimed(b, at.row, at.column);
    const double far = pow(b->frequency[1] / b->frequency[0], (double)b->pairs);
    const double angle = far * b->angle[at.row * b->pairs + b->pair[at.column]];
    const double x = b->amplitude * (sine ? sin(angle) : cos(angle));
    return fabs(pe_beside_got(b, at.row, at.column) - x) <=
           2 * (b->slack[at.row * b->width + at.column] + pe_beside_rounding(b, x));
}

/* Sent as one type of 16 bits, or kept in a wider one afterwards. */
static double misread(pe_dtype as, pe_dtype really, double got)
{
    unsigned char bytes[8];
    pe_dtype_store(as, got, bytes);
    return pe_dtype_load(as, bytes) == got ? pe_dtype_load(really, bytes) : nan("");
}

static double bits_of_bfloat16(pe_dtype dtype, double got)
{
    return dtype != PE_BFLOAT16 ? misread(PE_FLOAT16, PE_BFLOAT16, got) : nan("");
}

static double bits_of_float16(pe_dtype dtype, double got)
{
    return dtype != PE_FLOAT16 ? misread(PE_BFLOAT16, PE_FLOAT16, got) : nan("");
}

/* Cut towards zero, so that up to a whole unit of the last place is missing. */
static bool is_cut(const pe_beside *b, pe_pattern_place at)
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

#define TURNED   .made = {"a*c - b*s", "a*s + b*c"}
#define EVEN(OF) "n % 2 == 0 ? " OF " : none"
#define ROLLED   "columns (channels) are rolled: each holds the one behind it"
#define PLACE    "(row*n + column)" /* of an element in the memory */
#define LATE     "late > 1 ? "      /* by one: see above */
#define SEVERAL  "rows > 1 ? "      /* with one row nothing moves */
#define BUFFER(E)                                                                                  \
    {                                                                                              \
        "floor(" E "/n)", E " % n"                                                                 \
    }

/* Rows of one head and item, and heads and tokens of an item as if their axes were in the other order. */
#define LINE "(row - row % line)"
#define ITEM "(row % item)" /* among the rows of its item */
#define MIXED                                                                                      \
    "heads > 1 ? row - " ITEM " + " ITEM " % (item/by)*by + floor(" ITEM "/(item/by)) : none"

/* Of a channel of 2 pairs: its partner; its place where neighbours become halves, and back; and the pair of
 * the other layout. */
#define TURNS        "(column < 2*pairs ? pair : none)"
#define PARTNER      "(column + (second ? -1 : 1)*(stride == 2 ? 1 : pairs))"
#define IN_HALVES(C) "(floor(" C "/2) + " C " % 2*pairs)"
#define IN_PAIRS(C)  "(" C " % pairs*2 + floor(" C "/pairs))"
#define TO(C)        "(stride == 2 ? " IN_HALVES(C) " : " IN_PAIRS(C) ")"
#define BACK(C)      "(stride == 2 ? " IN_PAIRS(C) " : " IN_HALVES(C) ")"
#define OTHER_PAIR   "(stride == 2 ? (2*pair + second) % pairs : floor((pair + second*pairs)/2))"
/* In blocks of `pairs` channels, each a head of its own; and one channel on, among 2 pairs. */
#define WITHIN  "column % pairs"
#define NEXT    "((column + 1) % (2*pairs))"
#define NEXT_OF "(stride == 2 ? " NEXT " + 1 - 2*(" NEXT " % 2) : (" NEXT " + pairs) % (2*pairs))"

const pe_pattern pe_pattern_rows[] = {
    PE_ROW(elements_zero, .of = PE_EITHER, .made = {"0", "0"}, .unpaired = PE_ZERO),
    PE_ROW(not_rotated, .fault.rule = "vectors were not rotated, they pass as they came",
           .of = PE_VECTORS, .made = {"a", "b"}),
    PE_ROW(inverse, .of = PE_VECTORS, .made = {"a*c + b*s", "-a*s + b*c"}),
    PE_ROW(rotated_negated, .of = PE_VECTORS, .made = {"-a*c + b*s", "-a*s - b*c"},
           .unpaired = PE_NEGATED),
    PE_ROW(sign_missing, .of = PE_VECTORS, .made = {"a*c + b*s", "a*s + b*c"}),
    PE_ROW(sign_twice, .of = PE_VECTORS, .made = {"a*c - b*s", "-a*s + b*c"}),
    PE_ROW(overwritten_in_place, .of = PE_VECTORS, .made = {"a*c - b*s", "b*c + (a*c - b*s)*s"}),
    PE_ROW(cosine_alone, .of = PE_VECTORS, .made = {"a*c", "b*c"}),
    PE_ROW(product_missing, .of = PE_VECTORS, .made = {"a*c - b*s", "a*s"}),
    PE_ROW(cos_sin_exchanged, .of = PE_VECTORS, .made = {"a*s - b*c", "a*c + b*s"}),
    PE_ROW(channels_exchanged, .of = PE_VECTORS, .made = {"a*s + b*c", "a*c - b*s"}),
    PE_ROW(input_conjugated, .of = PE_VECTORS, .made = {"a*c + b*s", "a*s - b*c"}),
    PE_ROW(waves_added, .of = PE_VECTORS, .made = {"a + s", "b + c"}),
    PE_ROW(waves_added,
           .fault.rule =
               "waves were added to the vectors, cosines first: not a rotation, not a product",
           .of = PE_VECTORS, .made = {"a + c", "b + s"}),
    PE_ROW(input_added, .of = PE_VECTORS, .made = {"a + a*c - b*s", "b + b*c + a*s"}),
    PE_ROW(sine_negative, .of = PE_TABLES, .made = {"c", "-s"}),
    PE_ROW(cosine_negative, .of = PE_TABLES, .made = {"-c", "s"}),
    PE_ROW(waves_negative, .of = PE_TABLES, .made = {"-c", "-s"}),
    PE_ROW(cos_sin_exchanged, .fault.rule = "cosines and sines are exchanged", .of = PE_TABLES,
           .made = {"s", "c"}),
    PE_ROW(sine_for_cosine, .of = PE_TABLES, .made = {"s", "s"}),
    PE_ROW(cosine_for_sine, .of = PE_TABLES, .made = {"c", "c"}),
    PE_ROW(no_turn, .of = PE_TABLES, .made = {"A", "0"}),
    PE_ROW(absolute_sine, .of = PE_TABLES, .made = {"c", "abs(s)"}),
    PE_ROW(absolute, .of = PE_TABLES, .made = {"abs(c)", "abs(s)"}),
    PE_ROW(squares, .of = PE_TABLES, .made = {"c*c", "s*s"}),
    PE_ROW(tangent, .of = PE_TABLES, .made = {"c", "A*s/c"}),
    PE_ROW(angles, .of = PE_TABLES, .made = {"angle", "angle"}),
    PE_ROW(cosine_clipped, .of = PE_TABLES, .made = {"max(c, 0)", "s"}),
    PE_ROW(waves_clipped, .of = PE_TABLES, .made = {"max(c, 0)", "max(s, 0)"}),
    STEPS("int8: multiples of 1/128", 128, 0, -128, 127),
    STEPS("int8: multiples of 1/127", 127, 0, -127, 127),
    STEPS("int4: multiples of 1/8", 8, 0, -8, 7),
    STEPS("int4: multiples of 1/7", 7, 0, -7, 7),
    UINT8(127.5, 127.5),
    UINT8(127.5, 128),
    UINT8(127, 128),
    UINT8(127, 127),
    PE_ROW(unit_interval, .of = PE_TABLES, .made = {"(1 + c)/2", "(1 + s)/2"}),
    PE_ROW(overwritten_in_place,
           .fault.rule =
               "the cosine was taken of the sine, not of the angle, which was overwritten in place",
           .fault.remedy = "keep the angle until both waves have been made", .of = PE_TABLES,
           .made = {"cos(s)", "s"}),
    PE_ROW(waves_twice, .of = PE_TABLES, .made = {"cos(c)", "sin(s)"}),
    PE_ROW(sum_for_cosine, .of = PE_TABLES, .made = {"c + s", "s"}),
    PE_ROW(sine_of_double, .of = PE_TABLES, .made = {"c", "2*s*c/A"}),
    PE_ROW(column_exponents, .of = PE_TABLES, .made = {"A*cos(angle*sqrt(step))", "s"}),
    PE_ROW(column_exponents,
           .fault.rule =
               "each column has an exponent of its own, 2 column/d: frequencies are squared, and "
               "cosines have others than sines",
           .of = PE_TABLES, .made = {"A*cos(angle*w*step)", "A*sin(angle*w)"}),
    PE_ROW(elements_constant, .of = PE_TABLES, .is_so = is_constant),
    /* places */
    PE_ROW(columns_reversed, .of = PE_EITHER, .from = {"row", "n - 1 - column"}),
    PE_ROW(columns_rolled, .of = PE_EITHER, .from = {"row", "(column - 1) % n"}),
    PE_ROW(columns_rolled, .fault.rule = ROLLED, .of = PE_EITHER,
           .from = {"row", "(column + 1) % n"}),
    PE_ROW(columns_rolled,
           .fault.rule = "columns (channels) are rolled: column i holds column i + {a}",
           .of = PE_EITHER, .from = {"row", LATE "(column + late) % n : none"}),
    PE_ROW(column_halves_exchanged, .of = PE_EITHER, .from = {"row", EVEN("(column + n/2) % n")}),
    PE_ROW(column_neighbours, .of = PE_EITHER,
           .from = {"row", EVEN("column + 1 - 2*(column % 2)")}),
    PE_ROW(columns_interleaved, .of = PE_EITHER,
           .from = {"row", EVEN("floor(column/2) + column % 2*(n/2)")}),
    PE_ROW(columns_concatenated, .of = PE_EITHER,
           .from = {"row", EVEN("column % (n/2)*2 + floor(2*column/n)")}),
    PE_ROW(columns_copied, .of = PE_EITHER, .from = {"row", EVEN("column % (n/2)")}),
    PE_ROW(columns_copied,
           .fault.rule = "the lower half of the columns is a copy of the upper one, repeated",
           .of = PE_EITHER, .from = {"row", EVEN("n/2 + column % (n/2)")}),
    PE_ROW(second_half_rolled, .of = PE_EITHER,
           .from = {"row", EVEN("(column < n/2 ? column : n/2 + (column - 1) % (n/2))")}),
    PE_ROW(second_half_rolled,
           .fault.rule =
               "the second half of the columns is rolled: column i of it holds column i + {a}",
           .of = PE_EITHER,
           .from = {"row",
                    LATE EVEN("(column < n/2 ? column : n/2 + (column + late) % (n/2))") ": none"}),
    PE_ROW(transposed, .of = PE_EITHER,
           .from = {SEVERAL PLACE " % rows : none", "floor(" PLACE "/rows)"}),
    PE_ROW(transposed,
           .fault.rule = "the table of the pairs was transposed, or reshaped, before their numbers "
                         "were repeated",
           .of = PE_TABLES,
           .from = {SEVERAL "(row*pairs + pair) % rows : none",
                    "column + (floor((row*pairs + pair)/rows) - pair)*stride"},
           .of_copies = true),
    PE_ROW(buffer_shifted, .of = PE_EITHER, .from = BUFFER("((" PLACE " + 1) % (rows*n))")),
    PE_ROW(buffer_shifted,
           .fault.rule = "the buffer is off by one: each element is the one before it",
           .of = PE_EITHER, .from = BUFFER("((" PLACE " - 1) % (rows*n))")),
    PE_ROW(buffer_shifted,
           .fault.rule = "the buffer is read late: each element is the one {a} places on",
           .of = PE_EITHER, .from = BUFFER("(" LATE "(" PLACE " + late) % (rows*n) : none)")),
    PE_ROW(rows_rolled, .of = PE_EITHER, .from = {LINE " + (row - inner) % line", "column"},
           .of_rows = true),
    PE_ROW(rows_rolled,
           .fault.rule = "rows (tokens) are rolled: each holds the one behind it, shifted by one",
           .of = PE_EITHER, .from = {LINE " + (row + inner) % line", "column"}, .of_rows = true),
    PE_ROW(axes_mixed, .of = PE_VECTORS, .from = {MIXED, "column"}, .of_rows = true),
    PE_ROW(axes_mixed,
           .fault.rule =
               "vectors of other heads and tokens were rotated: axes (seq_axis) were reshaped, "
               "not transposed",
           .of = PE_VECTORS, .from = {MIXED, "column"}, .of_inputs = true, TURNED),
    PE_ROW(pairs_apart, .of = PE_VECTORS,
           .turn = {"n % 2 == 0 && 2*pairs < n && column % (n/2) < pairs ? column % (n/2) : none",
                    "column", "(column + n/2) % n", "column >= n/2"}),
    PE_ROW(heads_halved, .of = PE_VECTORS,
           .turn = {"pairs % 2 == 0 && stride == 1 && column < 2*pairs ? " WITHIN
                    " % (pairs/2)*2 : none",
                    "column", "column - " WITHIN " + (" WITHIN " + pairs/2) % pairs",
                    WITHIN " >= pairs/2"}),
    PE_ROW(pairs_shifted, .of = PE_VECTORS,
           .turn = {"column >= 2*pairs ? none : stride == 2 ? floor(" NEXT "/2) : " NEXT " % pairs",
                    "column", "(" NEXT_OF " - 1) % (2*pairs)",
                    "stride == 2 ? " NEXT " % 2 : " NEXT " >= pairs"}),
    PE_ROW(vectors_normalized, .of = PE_VECTORS, .is_so = is_normalized, .of_any_size = true),
    PE_ROW(ladder_goes_on, .of = PE_TABLES, .is_so = goes_on, .of_copies = true),
    PE_ROW(waves_repeated, .of = PE_VECTORS,
           .turn = {"column < 2*pairs ? " OTHER_PAIR " : none", "column", PARTNER, "second"}),
    PE_ROW(channels_permuted, .of = PE_VECTORS,
           .turn = {TURNS, TO("column"), TO(PARTNER), "second"}),
    PE_ROW(channels_permuted,
           .fault.rule =
               "channels were permuted from one layout to the other (half, interleaved) before "
               "they were turned",
           .of = PE_VECTORS, .turn = {TURNS, BACK("column"), BACK(PARTNER), "second"}),
    PE_ROW(elements_cut, .of = PE_TABLES, .is_so = is_cut),
    PE_ROW(misread_type, .of = PE_EITHER, .reread = bits_of_bfloat16),
    PE_ROW(misread_type, .fault.rule = "bits of float16 were read as another type: as bfloat16",
           .fault.remedy = "name the dtype that the bytes have: float16", .of = PE_EITHER,
           .reread = bits_of_float16),
};
const size_t pe_pattern_rows_n = PE_LEN(pe_pattern_rows);
