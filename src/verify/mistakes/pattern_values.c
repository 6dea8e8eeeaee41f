/* SPDX-License-Identifier: MIT */
/* pattern_values.c - what the numbers of a pair may have become. */
#include "verify/mistakes/pattern_rows.h"

#include <math.h>

/* ---- waves ---- */

static pe_pattern_two both_negative(const pe_pattern_wave *x)
{
    return (pe_pattern_two){-x->cosine, -x->sine};
}

static pe_pattern_two cosine_negative(const pe_pattern_wave *x)
{
    return (pe_pattern_two){-x->cosine, x->sine};
}

static pe_pattern_two sine_negative(const pe_pattern_wave *x)
{
    return (pe_pattern_two){x->cosine, -x->sine};
}

static pe_pattern_two exchanged(const pe_pattern_wave *x)
{
    return (pe_pattern_two){x->sine, x->cosine};
}

static pe_pattern_two absolute(const pe_pattern_wave *x)
{
    return (pe_pattern_two){fabs(x->cosine), fabs(x->sine)};
}

static pe_pattern_two absolute_sine(const pe_pattern_wave *x)
{
    return (pe_pattern_two){x->cosine, fabs(x->sine)};
}

static pe_pattern_two squares(const pe_pattern_wave *x)
{
    return (pe_pattern_two){x->cosine * x->cosine, x->sine * x->sine};
}

static pe_pattern_two tangent(const pe_pattern_wave *x)
{
    return (pe_pattern_two){x->cosine, x->amplitude * x->sine / x->cosine};
}

static pe_pattern_two angles(const pe_pattern_wave *x)
{
    return (pe_pattern_two){x->angle, x->angle};
}

static pe_pattern_two clipped_cosine(const pe_pattern_wave *x)
{
    return (pe_pattern_two){fmax(x->cosine, 0), x->sine};
}

static pe_pattern_two clipped(const pe_pattern_wave *x)
{
    return (pe_pattern_two){fmax(x->cosine, 0), fmax(x->sine, 0)};
}

static pe_pattern_two in_unit(const pe_pattern_wave *x)
{
    return (pe_pattern_two){(1 + x->cosine) / 2, (1 + x->sine) / 2};
}

static pe_pattern_two sine_in_place(const pe_pattern_wave *x)
{
    return (pe_pattern_two){cos(x->sine), x->sine};
}

static pe_pattern_two waves_twice(const pe_pattern_wave *x)
{
    return (pe_pattern_two){cos(x->cosine), sin(x->sine)};
}

static pe_pattern_two sum_in_cosine(const pe_pattern_wave *x)
{
    return (pe_pattern_two){x->cosine + x->sine, x->sine};
}

static pe_pattern_two doubled_sine(const pe_pattern_wave *x)
{
    return (pe_pattern_two){x->cosine, 2 * x->sine * x->cosine / x->amplitude};
}

static pe_pattern_two sine_twice(const pe_pattern_wave *x)
{
    return (pe_pattern_two){x->sine, x->sine};
}

static pe_pattern_two cosine_twice(const pe_pattern_wave *x)
{
    return (pe_pattern_two){x->cosine, x->cosine};
}

/* Exponents are counted by columns: that of a cosine is half a pair further. */
static pe_pattern_two cosine_further(const pe_pattern_wave *x)
{
    return (pe_pattern_two){x->amplitude * cos(x->angle * sqrt(x->step)), x->sine};
}

/* Twice the column over d. */
static pe_pattern_two doubled_columns(const pe_pattern_wave *x)
{
    const double angle = x->angle * x->frequency;
    return (pe_pattern_two){x->amplitude * cos(angle * x->step), x->amplitude * sin(angle)};
}

static pe_pattern_two still(const pe_pattern_wave *x)
{
    return (pe_pattern_two){x->amplitude, 0};
}

static pe_pattern_two zero(const pe_pattern_wave *x)
{
    (void)x;
    return (pe_pattern_two){0, 0};
}

/* ---- turned vectors ---- */

static pe_pattern_two without_minus(const pe_pattern_wave *x)
{
    return (pe_pattern_two){x->a * x->cosine + x->b * x->sine, x->b * x->cosine + x->a * x->sine};
}

static pe_pattern_two with_two_minuses(const pe_pattern_wave *x)
{
    return (pe_pattern_two){x->a * x->cosine - x->b * x->sine, x->b * x->cosine - x->a * x->sine};
}

static pe_pattern_two overwritten(const pe_pattern_wave *x)
{
    const double first = x->a * x->cosine - x->b * x->sine;
    return (pe_pattern_two){first, x->b * x->cosine + first * x->sine};
}

static pe_pattern_two cosine_alone(const pe_pattern_wave *x)
{
    return (pe_pattern_two){x->a * x->cosine, x->b * x->cosine};
}

static pe_pattern_two second_half_made(const pe_pattern_wave *x)
{
    return (pe_pattern_two){x->a * x->cosine - x->b * x->sine, x->a * x->sine};
}

static pe_pattern_two waves_exchanged(const pe_pattern_wave *x)
{
    return (pe_pattern_two){x->a * x->sine - x->b * x->cosine, x->b * x->sine + x->a * x->cosine};
}

static pe_pattern_two turned_back(const pe_pattern_wave *x)
{
    return (pe_pattern_two){x->a * x->cosine + x->b * x->sine, x->b * x->cosine - x->a * x->sine};
}

static pe_pattern_two turned_negative(const pe_pattern_wave *x)
{
    return (pe_pattern_two){x->b * x->sine - x->a * x->cosine, -x->b * x->cosine - x->a * x->sine};
}

static pe_pattern_two not_turned(const pe_pattern_wave *x)
{
    return (pe_pattern_two){x->a, x->b};
}

static pe_pattern_two channels_exchanged(const pe_pattern_wave *x)
{
    return (pe_pattern_two){x->b * x->cosine + x->a * x->sine, x->a * x->cosine - x->b * x->sine};
}

static pe_pattern_two conjugated(const pe_pattern_wave *x)
{
    return (pe_pattern_two){x->a * x->cosine + x->b * x->sine, x->a * x->sine - x->b * x->cosine};
}

static pe_pattern_two sine_first_added(const pe_pattern_wave *x)
{
    return (pe_pattern_two){x->a + x->sine, x->b + x->cosine};
}

static pe_pattern_two cosine_first_added(const pe_pattern_wave *x)
{
    return (pe_pattern_two){x->a + x->cosine, x->b + x->sine};
}

static pe_pattern_two with_input(const pe_pattern_wave *x)
{
    return (pe_pattern_two){x->a + x->a * x->cosine - x->b * x->sine,
                            x->b + x->b * x->cosine + x->a * x->sine};
}

/* ---- the rows ---- */

#define COPY  "keep the order of the columns when tables are concatenated or repeated"
#define HALF  "turn by x cos(a) + rotate(x) sin(a) with rotate(x) = (-x2, x1)"
#define SIGN  "check the sign where the waves are made or unpacked"
#define WRITE "look at what writes them: a mask, a slice, a loop that ends early"

const pe_pattern pe_pattern_values[] = {
    PE_ROW(elements_zero, "elements are zero, or were not written", WRITE, .of = PE_EITHER,
           .make = zero, .unpaired = PE_ZERO),
    PE_ROW(not_rotated, "vectors were not rotated, they pass as they came", "apply the rotation",
           .of = PE_VECTORS, .make = not_turned),
    PE_ROW(inverse, "the rotation was the inverse one: angles were negative",
           "take the sine's sign as in x cos(a) + rotate(x) sin(a)", .of = PE_VECTORS,
           .make = turned_back),
    PE_ROW(rotated_negated, "rotated vectors have the opposite sign, they are negated", SIGN,
           .of = PE_VECTORS, .make = turned_negative, .unpaired = PE_NEGATED),
    PE_ROW(sign_missing, "rotate_half has no minus: both products are added, no sign is negative",
           HALF, .of = PE_VECTORS, .make = without_minus),
    PE_ROW(sign_twice, "rotate_half has two minuses: both sines are negative (sign)", HALF,
           .of = PE_VECTORS, .make = with_two_minuses),
    PE_ROW(overwritten_in_place,
           "the first number of each pair was overwritten in place before the second was made",
           "keep the old first number until the second has been made", .of = PE_VECTORS,
           .make = overwritten),
    PE_ROW(cosine_alone, "only the products with cosines are there: the sines are missing", HALF,
           .of = PE_VECTORS, .make = cosine_alone),
    PE_ROW(product_missing,
           "the second number of each pair lacks a product: it is x1 sin(a), without x2 cos(a)",
           HALF, .of = PE_VECTORS, .make = second_half_made),
    PE_ROW(cos_sin_exchanged, "vectors were turned with cosines and sines exchanged",
           "exchange cosines and sines where they are unpacked", .of = PE_VECTORS,
           .make = waves_exchanged),
    PE_ROW(channels_exchanged, "the two channels of each pair are exchanged in the output", COPY,
           .of = PE_VECTORS, .make = channels_exchanged),
    PE_ROW(input_conjugated,
           "the second channel of each pair was negated before it was rotated: a conjugate, with "
           "the opposite sign",
           HALF, .of = PE_VECTORS, .make = conjugated),
    PE_ROW(waves_added,
           "waves were added to the vectors, sines first, as sinusoidal encodings are: not a "
           "rotation",
           HALF, .of = PE_VECTORS, .make = sine_first_added),
    PE_ROW(waves_added,
           "waves were added to the vectors, cosines first: not a rotation, not a product", HALF,
           .of = PE_VECTORS, .make = cosine_first_added),
    PE_ROW(input_added,
           "the input was added to the rotated vectors, as a residual: it is in the output twice",
           "write the rotated vectors, do not add them", .of = PE_VECTORS, .make = with_input),
    PE_ROW(sine_negative, "sines have the opposite sign", SIGN, .of = PE_TABLES,
           .make = sine_negative),
    PE_ROW(cosine_negative, "cosines have the opposite sign: they are negated", SIGN,
           .of = PE_TABLES, .make = cosine_negative),
    PE_ROW(waves_negative,
           "cosines and sines have the opposite sign: both were negated, or pi added to the angle",
           SIGN, .of = PE_TABLES, .make = both_negative),
    PE_ROW(cos_sin_exchanged, "cosines and sines are exchanged",
           "exchange cosines and sines where they are unpacked", .of = PE_TABLES,
           .make = exchanged),
    PE_ROW(sine_for_cosine, "sines stand in the place of cosines, too",
           "take the cosine of the same angle", .of = PE_TABLES, .make = sine_twice),
    PE_ROW(cosine_for_sine, "cosines stand in the place of sines, too",
           "take the sine of the same angle", .of = PE_TABLES, .make = cosine_twice),
    PE_ROW(no_turn, "pairs do not turn: cosines are constant (1), sines zero",
           "make frequencies and positions for all rows and pairs", .of = PE_TABLES, .make = still),
    PE_ROW(absolute_sine, "sines have lost their sign: absolute values, as of sqrt(1 - cos^2)",
           "take the sine itself", .of = PE_TABLES, .make = absolute_sine),
    PE_ROW(absolute, "cosines and sines are absolute values: their sign is lost",
           "take cosines and sines as they are", .of = PE_TABLES, .make = absolute),
    PE_ROW(squares, "waves are squared: each is multiplied by itself",
           "take cosines and sines as they are", .of = PE_TABLES, .make = squares),
    PE_ROW(tangent, "the tangent stands in the place of the sine", "take the sine", .of = PE_TABLES,
           .make = tangent),
    PE_ROW(angles, "angles stand in the place of waves: no cosine or sine was taken of them",
           "take cosines and sines of the angles", .of = PE_TABLES, .make = angles),
    PE_ROW(cosine_clipped, "cosines are clipped to [0, 1]: negative ones are 0",
           "take cosines and sines as they are", .of = PE_TABLES, .make = clipped_cosine),
    PE_ROW(waves_clipped, "waves are clipped to [0, 1]: negative ones are 0",
           "take cosines and sines as they are", .of = PE_TABLES, .make = clipped),
    PE_ROW(unit_interval, "waves were mapped from [-1, 1] to [0, 1]: halved, with 0.5 added",
           "take cosines and sines as they are", .of = PE_TABLES, .make = in_unit),
    PE_ROW(overwritten_in_place,
           "the cosine was taken of the sine, not of the angle, which was overwritten in place",
           "keep the angle until both waves have been made", .of = PE_TABLES,
           .make = sine_in_place),
    PE_ROW(waves_twice, "waves were taken twice: they are cosines of cosines, and sines of sines",
           "take cosines and sines of the angles once", .of = PE_TABLES, .make = waves_twice),
    PE_ROW(sum_for_cosine, "the sum of cosine and sine stands in the place of the cosine",
           "take the cosine", .of = PE_TABLES, .make = sum_in_cosine),
    PE_ROW(sine_of_double,
           "sines are those of twice the angle, cosines are not: angles were scaled by 2",
           "take both waves of one angle", .of = PE_TABLES, .make = doubled_sine),
    PE_ROW(column_exponents,
           "cosines have a frequency of their own: the exponent of each column is column/d, not "
           "that of its pair",
           "take the exponent 2i/d for both columns of pair i", .of = PE_TABLES,
           .make = cosine_further),
    PE_ROW(column_exponents,
           "each column has an exponent of its own, 2 column/d: frequencies are squared, and "
           "cosines have others than sines",
           "take the exponent 2i/d for both columns of pair i", .of = PE_TABLES,
           .make = doubled_columns),
};
const size_t pe_pattern_values_n = PE_LEN(pe_pattern_values);
