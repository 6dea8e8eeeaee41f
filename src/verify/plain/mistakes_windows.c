/* SPDX-License-Identifier: MIT */
/* mistakes_windows.c - indices, coordinates and biases of the windows of Swin. */
#include <math.h>

#include "verify/plain/plain_slips.h"

/* ---- indices: (dy + h - 1)(2w - 1) + dx + w - 1 ---- */

static double height_of(const pe_slip *p)
{
    return pe_slip_number(p, "window_height");
}

static double width_of(const pe_slip *p)
{
    return pe_slip_number(p, "window_width");
}

/* What is added for a row of offset, and for a column; and for none. */
typedef struct steps {
    double row, column, zero;
    bool absolute;
} steps;

/* Of a window that is so wide. */
static double index_in(const pe_slip *p, size_t e, double width, const steps *by)
{
    const size_t row = e / p->columns;
    const double query = (double)row, key = (double)(e % p->columns);
    const double down = floor(query / width) - floor(key / width);
    const double across = fmod(query, width) - fmod(key, width);
    return by->absolute ? by->row * fabs(down) + by->column * fabs(across) + by->zero
                        : by->row * down + by->column * across + by->zero;
}

static double index_of(const pe_slip *p, size_t e, double row, double column, double zero)
{
    return index_in(p, e, width_of(p), &(steps){row, column, zero, false});
}

static double exchanged(const pe_slip *p, size_t e)
{
    const double h = height_of(p), w = width_of(p);
    return index_of(p, e, 1, 2 * h - 1, (w - 1) * (2 * h - 1) + h - 1);
}

/* Patches count down the columns. */
static double transposed(const pe_slip *p, size_t e)
{
    const double h = height_of(p), w = width_of(p);
    return index_in(p, e, h, &(steps){1, 2 * w - 1, (h - 1) * (2 * w - 1) + w - 1, false});
}

/* value: the sign of rows, and_value: that of columns. */
static double mirrored(const pe_slip *p, size_t e)
{
    const double h = height_of(p), w = width_of(p);
    return index_of(p, e, p->a * (2 * w - 1), p->b, (h - 1) * (2 * w - 1) + w - 1);
}

/* value: how often the offsets of the last patch are added. */
static double absolute(const pe_slip *p, size_t e)
{
    const double h = height_of(p), w = width_of(p);
    const double zero = p->a * ((2 * w - 1) * (h - 1) + w - 1);
    return index_in(p, e, w, &(steps){2 * w - 1, 1, zero, true});
}

/* Of indices that were looked up: below 0 they count from the end, and no line goes through them. */
static bool solve_looked_up(pe_slip *p)
{
    return p->of->lookup != NULL;
}

static double opposite(const pe_slip *p, size_t e)
{
    return 2 * p->claimed[0] - p->claimed[e];
}

static bool solve_offset(pe_slip *p)
{
    p->a = p->measured[0] - p->claimed[0];
    return p->a != 0 && p->of->lookup != NULL;
}

static double from_zero(const pe_slip *p, size_t e)
{
    return index_of(p, e, 2 * width_of(p) - 1, 1, 0);
}

static bool solve_stride(pe_slip *p)
{
    const double w = width_of(p);
    p->b = 2 * w - 1;
    if (height_of(p) < 2)
        return false;
    p->a = fabs(p->measured[(size_t)w * p->columns] - p->measured[0]); /* of either sign */
    return p->a != p->b;
}

static double strided(const pe_slip *p, size_t e)
{
    return index_of(p, e, p->a, 1, (height_of(p) - 1) * p->a + width_of(p) - 1);
}

/* A square window that the claimed one is a part of. */
static bool solve_larger(pe_slip *p)
{
    const double w = width_of(p);
    const bool strided = solve_stride(p);
    p->a = (p->a + 1) / 2;
    p->b = w;
    return strided && p->a == floor(p->a) && p->a > w && p->measured[0] == (p->a - 1) * 2 * p->a;
}

static double in_larger(const pe_slip *p, size_t e)
{
    return index_of(p, e, 2 * p->a - 1, 1, (p->a - 1) * 2 * p->a);
}

/* ---- coordinates: sign(x) log2(1 + |x|)/3, x = 8 offset/(pretrained - 1) ---- */

static double unfold(double coordinate)
{
    return exp2(3 * fabs(coordinate)) - 1;
}

static double folded(double claimed, double times)
{
    return copysign(log2(1 + unfold(claimed) * times) / 3, claimed);
}

static double axes_exchanged(const pe_slip *p, size_t e)
{
    return p->claimed[e ^ 1];
}

/* Another power of two for 8. */
static bool solve_power(pe_slip *p)
{
    const double power = round(log2(8 * unfold(p->measured[0]) / unfold(p->claimed[0])));
    p->a = exp2(power);
    p->b = 8;
    return power != 3;
}

static double times_over_eight(const pe_slip *p, size_t e)
{
    return folded(p->claimed[e], p->a / 8);
}

static double trained_size(const pe_slip *p, size_t e)
{
    return pe_slip_number(p, e % 2 == 0 ? "pretrained_window_height" : "pretrained_window_width");
}

/* The offset that became 8 was the window's own; value: or one more than that. */
static double by_own_size(const pe_slip *p, size_t e)
{
    const double last = (e % 2 == 0 ? height_of(p) : width_of(p)) - 1 + p->a;
    return last > 0 ? folded(p->claimed[e], (trained_size(p, e) - 1) / last) : p->claimed[e];
}

static double by_whole_window(const pe_slip *p, size_t e)
{
    const double most = trained_size(p, e);
    return folded(p->claimed[e], (most - 1) / most);
}

/* One of the sizes that people train, on both axes. */
static bool solve_trained(pe_slip *p)
{
    p->b = trained_size(p, 0);
    p->a = 1 + round((p->b - 1) * unfold(p->claimed[0]) / unfold(p->measured[0]));
    return p->a > 1 && (p->a <= 16 || fmod(p->a, 8) == 0) && p->a <= 64 && p->a != p->b;
}

static double by_trained(const pe_slip *p, size_t e)
{
    return folded(p->claimed[e], (trained_size(p, e) - 1) / (p->a - 1));
}

static bool solve_linear(pe_slip *p)
{
    p->a = fabs(p->measured[0]) / unfold(p->claimed[0]);
    return isfinite(p->a);
}

static double linear(const pe_slip *p, size_t e)
{
    return copysign(unfold(p->claimed[e]) * p->a, p->claimed[e]);
}

static double sigmoid(const pe_slip *p, size_t e)
{
    return 16 / (1 + exp(-p->claimed[e]));
}

/* ---- the rows ---- */

#define INDEX   &pe_slip_values, "swin/index", NULL
#define CPB     &pe_slip_values, "swin/coordinates", NULL
#define OFFSETS "absolute offsets of rows and columns were taken: their sign (direction) is lost"
#define SIGNED  "take query - key of both coordinates, with its sign"
#define ADD     "add window_height - 1 to the offset of rows, window_width - 1 to that of columns"

static const pe_plain_mistake rows[] = {
    PE_SLIP(bias_sigmoid, &pe_slip_values, "swin/bias", .op = sigmoid),
    PE_SLIP(index_mirrored, INDEX, solve_looked_up, opposite,
            .fault.rule =
                "indices run in the opposite direction: key - query was taken for query - key",
            .fault.remedy = SIGNED),
    PE_SLIP(swin_axes, INDEX, NULL, exchanged),
    PE_SLIP(swin_mirrored, INDEX, NULL, mirrored, .fault.value = 1, .fault.and_value = -1),
    PE_SLIP(swin_mirrored, INDEX, NULL, mirrored,
            .fault.rule = "the offset of rows has the other sign: rows are upside down",
            .fault.value = -1, .fault.and_value = 1),
    PE_SLIP(swin_absolute, INDEX, NULL, absolute),
    PE_SLIP(swin_absolute, INDEX, NULL, absolute, .fault.rule = OFFSETS, .fault.value = 1),
    PE_SLIP(swin_mesh, INDEX, NULL, transposed),
    PE_SLIP(swin_stride, INDEX, solve_stride, strided),
    PE_SLIP(offset_missing, INDEX, NULL, from_zero),
    PE_SLIP(offset, INDEX, solve_offset, pe_slip_plus,
            .fault.rule = "an offset of {a} was added to every index", .fault.remedy = ADD),
    PE_SLIP(swin_table, INDEX, solve_larger, in_larger),
    PE_SLIP(swin_axes, CPB, NULL, axes_exchanged,
            .fault.rule = "rows and columns are exchanged: the axes of the coordinates",
            .fault.remedy = "put the coordinate of rows first"),
    PE_SLIP(coordinates_absolute, CPB, NULL, pe_slip_absolute,
            .fault.rule = "coordinates are absolute values: their sign is lost",
            .fault.remedy = "multiply by the sign of the offset"),
    PE_SLIP(pretrained_ignored, CPB, NULL, by_own_size),
    PE_SLIP(
        pretrained_ignored, CPB, NULL, by_own_size,
        .fault.rule =
            "offsets were divided by the window's own size, and not by that less 1: the pretrained "
            "window was ignored",
        .fault.value = 1),
    PE_SLIP(window_not_less_one, CPB, NULL, by_whole_window),
    PE_SLIP(coordinates_times, CPB, NULL, times_over_eight, .fault.value = 1, .fault.and_value = 8),
    PE_SLIP(coordinates_times, CPB, solve_power, times_over_eight,
            .fault.rule = "offsets were scaled by {a} before the logarithm, not by {b}"),
    PE_SLIP(pretrained_window, CPB, solve_trained, by_trained),
    PE_SLIP(coordinates_linear, CPB, solve_linear, linear,
            .fault.rule = "no logarithm was taken: coordinates are linear, {a} for each unit",
            .fault.remedy = "take sign(x) log2(1 + |x|)/log2(8)"),
};
const pe_plain_mistakes pe_mistakes_of_windows = {rows, PE_LEN(rows)};
