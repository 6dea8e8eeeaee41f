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

const pe_pattern pe_pattern_values[] = {
    PE_ROW(elements_zero, .of = PE_EITHER, .make = zero, .unpaired = PE_ZERO),
    PE_ROW(not_rotated, .fault.rule = "vectors were not rotated, they pass as they came",
           .of = PE_VECTORS, .make = not_turned),
    PE_ROW(inverse, .of = PE_VECTORS, .make = turned_back),
    PE_ROW(rotated_negated, .of = PE_VECTORS, .make = turned_negative, .unpaired = PE_NEGATED),
    PE_ROW(sign_missing, .of = PE_VECTORS, .make = without_minus),
    PE_ROW(sign_twice, .of = PE_VECTORS, .make = with_two_minuses),
    PE_ROW(overwritten_in_place, .of = PE_VECTORS, .make = overwritten),
    PE_ROW(cosine_alone, .of = PE_VECTORS, .make = cosine_alone),
    PE_ROW(product_missing, .of = PE_VECTORS, .make = second_half_made),
    PE_ROW(cos_sin_exchanged, .of = PE_VECTORS, .make = waves_exchanged),
    PE_ROW(channels_exchanged, .of = PE_VECTORS, .make = channels_exchanged),
    PE_ROW(input_conjugated, .of = PE_VECTORS, .make = conjugated),
    PE_ROW(waves_added, .of = PE_VECTORS, .make = sine_first_added),
    PE_ROW(waves_added,
           .fault.rule =
               "waves were added to the vectors, cosines first: not a rotation, not a product",
           .of = PE_VECTORS, .make = cosine_first_added),
    PE_ROW(input_added, .of = PE_VECTORS, .make = with_input),
    PE_ROW(sine_negative, .of = PE_TABLES, .make = sine_negative),
    PE_ROW(cosine_negative, .of = PE_TABLES, .make = cosine_negative),
    PE_ROW(waves_negative, .of = PE_TABLES, .make = both_negative),
    PE_ROW(cos_sin_exchanged, .fault.rule = "cosines and sines are exchanged", .of = PE_TABLES,
           .make = exchanged),
    PE_ROW(sine_for_cosine, .of = PE_TABLES, .make = sine_twice),
    PE_ROW(cosine_for_sine, .of = PE_TABLES, .make = cosine_twice),
    PE_ROW(no_turn, .of = PE_TABLES, .make = still),
    PE_ROW(absolute_sine, .of = PE_TABLES, .make = absolute_sine),
    PE_ROW(absolute, .of = PE_TABLES, .make = absolute),
    PE_ROW(squares, .of = PE_TABLES, .make = squares),
    PE_ROW(tangent, .of = PE_TABLES, .make = tangent),
    PE_ROW(angles, .of = PE_TABLES, .make = angles),
    PE_ROW(cosine_clipped, .of = PE_TABLES, .make = clipped_cosine),
    PE_ROW(waves_clipped, .of = PE_TABLES, .make = clipped),
    PE_ROW(unit_interval, .of = PE_TABLES, .make = in_unit),
    PE_ROW(overwritten_in_place,
           .fault.rule =
               "the cosine was taken of the sine, not of the angle, which was overwritten in place",
           .fault.remedy = "keep the angle until both waves have been made", .of = PE_TABLES,
           .make = sine_in_place),
    PE_ROW(waves_twice, .of = PE_TABLES, .make = waves_twice),
    PE_ROW(sum_for_cosine, .of = PE_TABLES, .make = sum_in_cosine),
    PE_ROW(sine_of_double, .of = PE_TABLES, .make = doubled_sine),
    PE_ROW(column_exponents, .of = PE_TABLES, .make = cosine_further),
    PE_ROW(column_exponents,
           .fault.rule =
               "each column has an exponent of its own, 2 column/d: frequencies are squared, and "
               "cosines have others than sines",
           .of = PE_TABLES, .make = doubled_columns),
};
const size_t pe_pattern_values_n = PE_LEN(pe_pattern_values);
