/* SPDX-License-Identifier: MIT */
/* element_rows.c - what the numbers of a pair may have become, and what may stand in their place. */
#include "verify/mistakes/elements.h"

#define TABLE(NAME, ...)    PE_ROW(NAME, .fault.tables_only = true, __VA_ARGS__)
#define VECTOR(NAME, ...)   PE_ROW(NAME, .fault.vectors_only = true, __VA_ARGS__)
#define PAIR(FIRST, SECOND) .op = FIRST, .also = SECOND
/* What is so, whatever it should be. */
#define IF(TRUTH) .op = TRUTH " ? y : none"

/* ---- numbers ---- */

/* x was kept as round(A x + B), from LOW to HIGH. */
#define STEP(Y, A, B, LOW, HIGH, OFF)                                                              \
    "abs(" Y " - rint(" Y ")) <= " OFF " && min(abs(" Y " - (" A "*x + " B ")), abs(" Y            \
    " - min(max(" A "*x + " B ", " LOW "), " HIGH "))) <= 0.5 + " A "*(slack + rounding)"
#define STEPS(OF, A, B, LOW, HIGH)                                                                 \
    TABLE(quantised, .fault.rule = "elements were quantised to " OF, .where = "rows > 1",          \
          IF("(" STEP("y", A, B, LOW, HIGH, "0") ") || (" STEP("(" A "*y + " B ")", A, B, LOW,     \
                                                               HIGH, A "*rounding") ")"))
#define UINT8(A, B) STEPS("uint8, with a scale of 1/" A " and a zero point of " B, A, B, "0", "255")

#define ON_LADDER(WAVE) "copied ? amplitude*" WAVE "(step^pairs*angle) : x"
/* Of a NaN bits are lost; 16 bits may have been cut. */
#define READ(AS) IF("abs(" AS " - x) <= slack + 16*rounding + abs(x)/128")

/* ---- places ---- */

#define FROM(ROW, COLUMN) .op = "own[(" ROW ")*wide + (" COLUMN ")]"
#define COLUMN(FROM_IT)   FROM("row", FROM_IT)
#define EVEN(OF)          "(wide % 2 == 0 ? " OF " : none)"
#define PLACE             "(row*wide + column)"        /* of an element in the memory */
#define LATE(OF)          "(late > 1 ? " OF " : none)" /* by one: see above */
#define LATER             .a = "late"
#define BUFFER(MORE)      .op = "own[(" PLACE " + " MORE ") % (rows*wide)]"
/* Row by row as a whole. */
#define ROW(FROM_IT) .op = "x[i + (" FROM_IT " - row)*width]"

/* Rows of one head and item, and heads and tokens of an item as if their axes were in the other order. */
#define LINE "(row - row % line)"
#define ITEM "(row % item)" /* among the rows of its item */
#define MIXED                                                                                      \
    "(heads > 1 ? row - " ITEM " + " ITEM " % (item/by)*by + floor(" ITEM "/(item/by)) : none)"

/* A channel that is turned by the wave of a pair, as the second of its pair or as the first. */
#define TURN(WAVE, OWN, OTHER, IS_SECOND)                                                          \
    "input[" OWN "]*cosine[" WAVE "] + ((" IS_SECOND ") ? 1 : -1)*input[" OTHER "]*sine[" WAVE "]"
#define TURNED(WHERE, ...) .op = WHERE " ? " TURN(__VA_ARGS__) " : in"
#define OF_PAIRS           "column < 2*pairs"

/* Of a channel of 2 pairs: its partner; its place where neighbours become halves, and back; and the pair of
 * the other layout. */
#define PARTNER      "(column + (second ? -1 : 1)*(stride == 2 ? 1 : pairs))"
#define IN_HALVES(C) "(floor(" C "/2) + " C " % 2*pairs)"
#define IN_PAIRS(C)  "(" C " % pairs*2 + floor(" C "/pairs))"
#define TO(C)        "(stride == 2 ? " IN_HALVES(C) " : " IN_PAIRS(C) ")"
#define BACK(C)      "(stride == 2 ? " IN_PAIRS(C) " : " IN_HALVES(C) ")"
#define OTHER_PAIR   "(stride == 2 ? (2*pair + second) % pairs : floor((pair + second*pairs)/2))"
/* In blocks of `pairs` channels, each a head of its own; and the partner of the channel behind. */
#define WITHIN  "column % pairs"
#define NEXT_OF "(stride == 2 ? next + 1 - 2*(next % 2) : (next + pairs) % (2*pairs))"

/* The last channels as if they were the first: where one of them stands among these. */
#define OF_TAIL     "(column - width + 2*pairs)"
#define TAIL_SECOND "(stride == 2 ? " OF_TAIL " % 2 : " OF_TAIL " >= pairs)"
#define TAIL_OTHER  "(column + (" TAIL_SECOND " ? -1 : 1)*(stride == 2 ? 1 : pairs))"

/* How many times as large the others are, of the numbers that are not as claimed. */
#define RATIO                                                                                      \
    .a = "digits(median(abs(y - x) > 0.02*abs(x) && abs(x) > 0.1*amplitude ? y/x : none), 3)",     \
    .where = "finite(a)"

/* ---- the rows ---- */

static const pe_slip rows[] = {
    PE_ROW(elements_zero, .op = "0"),
    VECTOR(not_rotated_vectors, .op = "in"),
    VECTOR(inverse, PAIR("u*c + v*s", "-u*s + v*c")),
    VECTOR(rotated_negated, .op = "-x"),
    VECTOR(sign_missing, PAIR("u*c + v*s", "u*s + v*c")),
    VECTOR(sign_twice, PAIR("u*c - v*s", "-u*s + v*c")),
    VECTOR(overwritten_in_place, PAIR("u*c - v*s", "v*c + (u*c - v*s)*s")),
    VECTOR(cosine_alone, PAIR("u*c", "v*c")),
    VECTOR(product_missing, PAIR("u*c - v*s", "u*s")),
    VECTOR(cos_sin_exchanged, PAIR("u*s - v*c", "u*c + v*s")),
    VECTOR(channels_exchanged, PAIR("u*s + v*c", "u*c - v*s")),
    VECTOR(input_conjugated, PAIR("u*c + v*s", "u*s - v*c")),
    VECTOR(waves_added, PAIR("u + s", "v + c")),
    VECTOR(waves_added_cosines_first, PAIR("u + c", "v + s")),
    VECTOR(input_added, PAIR("u + u*c - v*s", "v + v*c + u*s")),
    TABLE(sine_negative, PAIR("c", "-s")),
    TABLE(cosine_negative, PAIR("-c", "s")),
    TABLE(waves_negative, PAIR("-c", "-s")),
    TABLE(cos_sin_exchanged_table, PAIR("s", "c")),
    TABLE(sine_for_cosine, PAIR("s", "s")),
    TABLE(cosine_for_sine, PAIR("c", "c")),
    TABLE(no_turn, PAIR("amplitude", "0")),
    TABLE(absolute_sine, PAIR("c", "abs(s)")),
    TABLE(absolute, PAIR("abs(c)", "abs(s)")),
    TABLE(squares, PAIR("c*c", "s*s")),
    TABLE(tangent, PAIR("c", "amplitude*s/c")),
    TABLE(angles, PAIR("angle", "angle")),
    TABLE(cosine_clipped, PAIR("max(c, 0)", "s")),
    TABLE(waves_clipped, PAIR("max(c, 0)", "max(s, 0)")),
    STEPS("int8: multiples of 1/128", "128", "0", "-128", "127"),
    STEPS("int8: multiples of 1/127", "127", "0", "-127", "127"),
    STEPS("int4: multiples of 1/8", "8", "0", "-8", "7"),
    STEPS("int4: multiples of 1/7", "7", "0", "-7", "7"),
    UINT8("127.5", "127.5"),
    UINT8("127.5", "128"),
    UINT8("127", "128"),
    UINT8("127", "127"),
    TABLE(waves_cut, .where = "amplitude > 1", PAIR("max(min(c, 1), -1)", "max(min(s, 1), -1)")),
    TABLE(sines_scaled, RATIO, PAIR("c", "a*s")),
    TABLE(cosines_scaled, RATIO, PAIR("a*c", "s")),
    VECTOR(rest_scaled, RATIO, .op = "pair == pair ? x : a*x"),
    TABLE(unit_interval, PAIR("(1 + c)/2", "(1 + s)/2")),
    TABLE(overwritten_in_place_angle, PAIR("cos(s)", "s")),
    TABLE(waves_twice, PAIR("cos(c)", "sin(s)")),
    TABLE(sum_for_cosine, PAIR("c + s", "s")),
    TABLE(sine_of_double, PAIR("c", "2*s*c/amplitude")),
    TABLE(column_exponents, PAIR("amplitude*cos(angle*sqrt(step))", "s")),
    TABLE(column_exponents_twice, PAIR("amplitude*cos(angle*w*step)", "amplitude*sin(angle*w)")),
    TABLE(copy_zero, PAIR("copied ? 0 : x", "x")),
    TABLE(copy_zero, PAIR("copied ? 0 : x", "copied ? 0 : x")),
    TABLE(elements_constant, .a = "y", .where = "rows > 1", IF("y == y[0]")),
    /* places */
    PE_ROW(columns_reversed, COLUMN("wide - 1 - column")),
    PE_ROW(columns_rolled, COLUMN("(column - 1) % wide")),
    PE_ROW(columns_rolled_back, COLUMN("(column + 1) % wide")),
    PE_ROW(columns_rolled_by, LATER, COLUMN(LATE("(column + late) % wide"))),
    PE_ROW(column_halves_exchanged, COLUMN(EVEN("(column + wide/2) % wide"))),
    PE_ROW(column_neighbours, COLUMN(EVEN("column + 1 - 2*(column % 2)"))),
    PE_ROW(columns_interleaved, COLUMN(EVEN("floor(column/2) + column % 2*(wide/2)"))),
    PE_ROW(columns_concatenated, COLUMN(EVEN("column % (wide/2)*2 + floor(2*column/wide)"))),
    PE_ROW(columns_copied, COLUMN(EVEN("column % (wide/2)"))),
    PE_ROW(columns_copied_down, COLUMN(EVEN("wide/2 + column % (wide/2)"))),
    PE_ROW(second_half_rolled,
           COLUMN(EVEN("(column < wide/2 ? column : wide/2 + (column - 1) % (wide/2))"))),
    PE_ROW(second_half_rolled_by, LATER,
           COLUMN(LATE(EVEN("(column < wide/2 ? column : wide/2 + (column + late) % (wide/2))")))),
    PE_ROW(transposed, .where = "rows > 1", FROM(PLACE " % rows", "floor(" PLACE "/rows)")),
    TABLE(transposed_pairs, .where = "rows > 1 && copy > 0",
          FROM("(row*pairs + pair) % rows",
               "column + (floor((row*pairs + pair)/rows) - pair)*stride")),
    PE_ROW(buffer_shifted, BUFFER("1")),
    PE_ROW(buffer_shifted_late, BUFFER("-1")),
    PE_ROW(buffer_shifted_by, LATER, BUFFER(LATE("late"))),
    PE_ROW(rows_rolled, ROW(LINE " + (row - inner) % line")),
    PE_ROW(rows_rolled_back, ROW(LINE " + (row + inner) % line")),
    VECTOR(axes_mixed, ROW(MIXED)),
    VECTOR(axes_mixed_before, PAIR("first[" MIXED "]*c - other[" MIXED "]*s",
                                   "first[" MIXED "]*s + other[" MIXED "]*c")),
    VECTOR(pairs_apart, .where = "width % 2 == 0 && 2*pairs < width",
           TURNED("column % (width/2) < pairs", "column % (width/2)", "column",
                  "(column + width/2) % width", "column >= width/2")),
    VECTOR(heads_halved, .where = "pairs % 2 == 0 && stride == 1",
           TURNED(OF_PAIRS, WITHIN " % (pairs/2)*2", "column",
                  "column - " WITHIN " + (" WITHIN " + pairs/2) % pairs", WITHIN " >= pairs/2")),
    VECTOR(pairs_shifted,
           TURNED(OF_PAIRS, "stride == 2 ? floor(next/2) : next % pairs", "column",
                  "(" NEXT_OF " - 1) % (2*pairs)", "stride == 2 ? next % 2 : next >= pairs")),
    VECTOR(tail_rotated, .where = "2*pairs < width",
           TURNED("column >= width - 2*pairs",
                  "stride == 2 ? floor(" OF_TAIL "/2) : " OF_TAIL " % pairs", "column", TAIL_OTHER,
                  TAIL_SECOND)),
    VECTOR(vectors_normalized, .where = "gain == 0", .op = "x/length"),
    VECTOR(vectors_normalized, .where = "gain == 0", .op = "sqrt(width)*x/length"),
    TABLE(ladder_goes_on, .where = "copy == pairs && pairs > 1",
          PAIR(ON_LADDER("cos"), ON_LADDER("sin"))),
    VECTOR(waves_repeated, TURNED(OF_PAIRS, OTHER_PAIR, "column", PARTNER, "second")),
    VECTOR(channels_permuted, TURNED(OF_PAIRS, "pair", TO("column"), TO(PARTNER), "second")),
    VECTOR(channels_permuted_before,
           TURNED(OF_PAIRS, "pair", BACK("column"), BACK(PARTNER), "second")),
    /* towards zero, so that up to a whole unit of the last place is missing */
    TABLE(elements_cut, .where = "narrow",
          IF("(x < 0 ? y - x : x - y) >= -slack && (x < 0 ? y - x : x - y) <= slack + ulp")),
    PE_ROW(misread_type, READ("as_bfloat16")),
    PE_ROW(misread_type, .fault.rule = "bits of float16 were read as another type: as bfloat16",
           .fault.remedy = "name the dtype that the bytes have: float16", READ("as_float16")),
};

const pe_slips pe_mistakes_of_elements = {rows, PE_LEN(rows)};
