/* SPDX-License-Identifier: MIT */
/* pattern_values.c - what the numbers of a pair may have become. */
#include "verify/mistakes/patterns.h"

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

const pe_pattern pe_pattern_values[] = {
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
};
const size_t pe_pattern_values_n = PE_LEN(pe_pattern_values);
