/* SPDX-License-Identifier: MIT */
/* formula_windows.c - indices, coordinates and biases of windows of Swin with a mistake in them. */
#include "verify/formula.h"

#include <math.h>

/* ---- windows of Swin ---- */

/* Of a window that is `width` wide. */
static double index_in(const pe_formula *f, size_t e, double width, const double step[2],
                       double zero)
{
    const size_t row_of = e / f->columns, column_of = e % f->columns;
    const double query = (double)row_of, key = (double)column_of;
    return (floor(query / width) - floor(key / width)) * step[0] +
           (fmod(query, width) - fmod(key, width)) * step[1] + zero;
}

static double index_of(const pe_formula *f, size_t e, const double step[2], double zero)
{
    return index_in(f, e, pe_formula_number(f, "window_width"), step, zero);
}

static double index_exchanged(const pe_formula *f, size_t e, double claimed)
{
    const double h = pe_formula_number(f, "window_height"),
                 w = pe_formula_number(f, "window_width");
    (void)claimed;
    return index_of(f, e, (double[]){1, 2 * h - 1}, (w - 1) * (2 * h - 1) + h - 1);
}

/* Patches count down the columns. */
static double index_transposed(const pe_formula *f, size_t e, double claimed)
{
    const double h = pe_formula_number(f, "window_height"),
                 w = pe_formula_number(f, "window_width");
    (void)claimed;
    return index_in(f, e, h, (double[]){1, 2 * w - 1}, (h - 1) * (2 * w - 1) + w - 1);
}

/* The offset of columns, or of rows, has the other sign. */
static double index_mirrored(const pe_formula *f, size_t e, double claimed)
{
    const double h = pe_formula_number(f, "window_height"),
                 w = pe_formula_number(f, "window_width");
    (void)claimed;
    return index_of(f, e, (double[]){2 * w - 1, -1}, (h - 1) * (2 * w - 1) + w - 1);
}

static double index_upside_down(const pe_formula *f, size_t e, double claimed)
{
    const double h = pe_formula_number(f, "window_height"),
                 w = pe_formula_number(f, "window_width");
    (void)claimed;
    return index_of(f, e, (double[]){1 - 2 * w, 1}, (h - 1) * (2 * w - 1) + w - 1);
}

/* Of indices that were looked up: below 0 they count from the end, and no line goes through them. */
static double read_looked_up(const pe_formula *f, double *b)
{
    (void)b;
    return f->of->lookup != NULL ? 0 : nan("");
}

static double index_opposite(const pe_formula *f, size_t e, double claimed)
{
    (void)e;
    return 2 * pe_formula_claimed(f, 0) - claimed;
}

static double read_offset(const pe_formula *f, double *b)
{
    const double a = pe_formula_got(f, 0) - pe_formula_claimed(f, 0);
    return a != 0 ? read_looked_up(f, b) + a : nan("");
}

static double index_offset(const pe_formula *f, size_t e, double claimed)
{
    (void)e;
    return claimed + f->a;
}

static double index_from_zero(const pe_formula *f, size_t e, double claimed)
{
    (void)claimed;
    return index_of(f, e, (double[]){2 * pe_formula_number(f, "window_width") - 1, 1}, 0);
}

/* A row's value: how often the offsets of the last patch are added. */
static double index_absolute(const pe_formula *f, size_t e, double claimed)
{
    const double h = pe_formula_number(f, "window_height"),
                 w = pe_formula_number(f, "window_width");
    const double rows = index_of(f, e, (double[]){1, 0}, 0),
                 columns = index_of(f, e, (double[]){0, 1}, 0);
    (void)claimed;
    return (2 * w - 1) * (fabs(rows) + f->by->fault.value * (h - 1)) + fabs(columns) +
           f->by->fault.value * (w - 1);
}

static double read_stride(const pe_formula *f, double *b)
{
    const double w = pe_formula_number(f, "window_width");
    *b = 2 * w - 1;
    if (!(pe_formula_number(f, "window_height") >= 2) || !(w >= 1))
        return nan("");
    const double a =
        fabs(pe_formula_got(f, (size_t)w * f->columns) - pe_formula_got(f, 0)); /* of either sign */
    return a != *b ? a : nan("");
}

static double index_strided(const pe_formula *f, size_t e, double claimed)
{
    const double h = pe_formula_number(f, "window_height"),
                 w = pe_formula_number(f, "window_width");
    (void)claimed;
    return index_of(f, e, (double[]){f->a, 1}, (h - 1) * f->a + w - 1);
}

/* As many patches in rows of another width. */
static double read_width(const pe_formula *f, double *b)
{
    const double n = (double)f->columns;
    *b = pe_formula_number(f, "window_width");
    for (size_t w = 2; w < f->columns; w++)
        if (f->columns % w == 0 && (double)w != *b &&
            pe_formula_got(f, 0) - pe_formula_got(f, w) == 2 * (double)w - 1 &&
            pe_formula_got(f, 0) == 2 * n - (double)w - n / (double)w)
            return (double)w;
    return nan("");
}

static double index_reshaped(const pe_formula *f, size_t e, double claimed)
{
    const double zero = 2 * (double)f->columns - f->a - (double)f->columns / f->a;
    (void)claimed;
    return index_in(f, e, f->a, (double[]){2 * f->a - 1, 1}, zero);
}

/* A square window that the claimed one is a part of. */
static double read_larger(const pe_formula *f, double *b)
{
    const double w = pe_formula_number(f, "window_width");
    const double a = (read_stride(f, b) + 1) / 2;
    *b = w;
    return a == floor(a) && a > w && pe_formula_got(f, 0) == (a - 1) * 2 * a ? a : nan("");
}

static double index_in_larger(const pe_formula *f, size_t e, double claimed)
{
    (void)claimed;
    return index_of(f, e, (double[]){2 * f->a - 1, 1}, (f->a - 1) * 2 * f->a);
}

static double coordinates_exchanged(const pe_formula *f, size_t e, double claimed)
{
    (void)claimed;
    return pe_formula_claimed(f, e ^ 1);
}

static double coordinates_absolute(const pe_formula *f, size_t e, double claimed)
{
    (void)f;
    (void)e;
    return fabs(claimed);
}

/* |x| of sign(x) log2(1 + |x|)/3 */
static double unfold(double coordinate)
{
    return exp2(3 * fabs(coordinate)) - 1;
}

/* How many times as large offsets were before the logarithm. */
static double read_ratio(const pe_formula *f, double *b)
{
    (void)b;
    return unfold(pe_formula_got(f, 0)) / unfold(pe_formula_claimed(f, 0));
}

static double coordinates_folded(double claimed, double times)
{
    return copysign(log2(1 + unfold(claimed) * times) / 3, claimed);
}

static double coordinates_times(const pe_formula *f, size_t e, double claimed)
{
    (void)e;
    return coordinates_folded(claimed, f->a);
}

static double read_one(const pe_formula *f, double *b)
{
    (void)f;
    (void)b;
    return 1;
}

static double coordinates_scaled(const pe_formula *f, size_t e, double claimed)
{
    (void)e;
    return coordinates_folded(claimed, f->a / 8);
}

/* Another power of two but 1. */
static double read_times(const pe_formula *f, double *b)
{
    *b = 8;
    const double power = round(log2(8 * read_ratio(f, b)));
    return power != 0 && power != 3 ? exp2(power) : nan("");
}

static double trained_size(const pe_formula *f, size_t e)
{
    return pe_formula_number(f,
                             e % 2 == 0 ? "pretrained_window_height" : "pretrained_window_width");
}

/* The offset that became 8 was the window's own; a: or one more than that. */
static double coordinates_own(const pe_formula *f, size_t e, double claimed)
{
    const double last =
        pe_formula_number(f, e % 2 == 0 ? "window_height" : "window_width") - 1 + f->a;
    return last > 0 ? coordinates_folded(claimed, (trained_size(f, e) - 1) / last) : claimed;
}

/* Offsets over the pretrained window, not over that less 1. */
static double coordinates_whole(const pe_formula *f, size_t e, double claimed)
{
    const double most = trained_size(f, e);
    return coordinates_folded(claimed, (most - 1) / most);
}

/* One of the sizes that people train. */
static double read_trained(const pe_formula *f, double *b)
{
    *b = trained_size(f, 0);
    const double a = 1 + round((*b - 1) / read_ratio(f, b));
    return a > 1 && (a <= 16 || fmod(a, 8) == 0) && a <= 64 && a != *b ? a : nan("");
}

static double coordinates_trained(const pe_formula *f, size_t e, double claimed)
{
    return coordinates_folded(claimed, (trained_size(f, e) - 1) / (f->a - 1));
}

static double read_linear(const pe_formula *f, double *b)
{
    (void)b;
    return fabs(pe_formula_got(f, 0)) / unfold(pe_formula_claimed(f, 0));
}

static double coordinates_linear(const pe_formula *f, size_t e, double claimed)
{
    (void)e;
    return copysign(unfold(claimed) * f->a, claimed);
}

/* ---- biases ---- */

static double bias_sigmoid(const pe_formula *f, size_t e, double claimed)
{
    (void)f;
    (void)e;
    return 16 / (1 + exp(-claimed));
}

/* ---- the rows ---- */

#define INDEX     "swin/index", NULL
#define CPB       "swin/coordinates", NULL
#define ABSOLUTE  "absolute offsets of rows and columns were taken: their sign (direction) is lost"
#define KEEP_SIGN "take query - key of both coordinates, with its sign"

const pe_formula_row pe_formula_windows[] = {
    {"swin/bias",
     NULL,
     {"bias_sigmoid", "biases are 16 sigmoid(x) of the claimed ones, as Swin v2 makes them",
      .remedy = "claim the table after the sigmoid, or leave the sigmoid out"},
     NULL,
     bias_sigmoid},
    {INDEX,
     {"index_mirrored",
      "indices run in the opposite direction: key - query was taken for query - key",
      .remedy = "take query - key of both coordinates, or transpose"},
     read_looked_up,
     index_opposite},
    {INDEX,
     {"swin_axes", "rows and columns are exchanged: the axes of the window",
      .remedy = "multiply the offset of rows by 2 window_width - 1"},
     NULL,
     index_exchanged},
    {INDEX,
     {"swin_mirrored", "the offset of columns has the other sign: columns are mirrored",
      .remedy = "take query - key of both coordinates"},
     NULL,
     index_mirrored},
    {INDEX,
     {"swin_mirrored", "the offset of rows has the other sign: rows are upside down",
      .remedy = "take query - key of both coordinates"},
     NULL,
     index_upside_down},
    {INDEX,
     {"swin_absolute", ABSOLUTE ", and nothing is added to them", .remedy = KEEP_SIGN},
     NULL,
     index_absolute},
    {INDEX, {"swin_absolute", ABSOLUTE, .value = 1, .remedy = KEEP_SIGN}, NULL, index_absolute},
    {INDEX,
     {"swin_mesh",
      "patches count down the columns: the mesh grid is transposed, the order of axes exchanged",
      .remedy = "let patches count along the rows: indexing=\"ij\""},
     NULL,
     index_transposed},
    {INDEX,
     {"swin_stride",
      "the stride of a row of the table was {a}, not 2 window_width - 1 = {b}: off "
      "as if from another axis",
      .remedy = "multiply the offset of rows by 2 window_width - 1"},
     read_stride,
     index_strided},
    {INDEX,
     {"offset_missing",
      "window_height - 1 and window_width - 1 were not added to the offsets: an index is smaller, "
      "or "
      "negative, and then counts from the end of the table",
      .remedy = "add window_height - 1 to the offset of rows, window_width - 1 to that of columns"},
     NULL,
     index_from_zero},
    {INDEX,
     {"offset", "an offset of {a} was added to every index",
      .remedy = "add window_height - 1 to the offset of rows, window_width - 1 to that of columns"},
     read_offset,
     index_offset},
    {INDEX,
     {"swin_window", "the window was {a} patches wide, not {b}, with as many patches in all",
      .remedy = "claim the window's own height and width, or cut the image as claimed"},
     read_width,
     index_reshaped},
    {INDEX,
     {"swin_table",
      "indices are those into the table of a square window of {a}, of which the claimed window "
      "({b} wide) is a part",
      .remedy = "make the index for the window itself, or interpolate the table"},
     read_larger,
     index_in_larger},
    {CPB,
     {"swin_axes", "rows and columns are exchanged: the axes of the coordinates",
      .remedy = "put the coordinate of rows first"},
     NULL,
     coordinates_exchanged},
    {CPB,
     {"coordinates_absolute", "coordinates are absolute values: their sign is lost",
      .remedy = "multiply by the sign of the offset"},
     NULL,
     coordinates_absolute},
    {CPB,
     {"pretrained_ignored",
      "offsets were divided by the window's own size: the pretrained window "
      "was ignored",
      .remedy = "divide offsets by pretrained_window_size - 1"},
     NULL,
     coordinates_own},
    {CPB,
     {"pretrained_ignored",
      "offsets were divided by the window's own size, and not by that less 1: the pretrained "
      "window "
      "was ignored",
      .remedy = "divide offsets by pretrained_window_size - 1"},
     read_one,
     coordinates_own},
    {CPB,
     {"window_not_less_one",
      "offsets were divided by the window, not by the window - 1: off by one",
      .remedy = "divide offsets by pretrained_window_size - 1"},
     NULL,
     coordinates_whole},
    {CPB,
     {"coordinates_times", "offsets were not multiplied by 8 before the logarithm",
      .remedy = "multiply normalized offsets by 8"},
     read_one,
     coordinates_scaled},
    {CPB,
     {"coordinates_times", "offsets were scaled by {a} before the logarithm, not by {b}",
      .remedy = "multiply normalized offsets by 8"},
     read_times,
     coordinates_scaled},
    {CPB,
     {"pretrained_window", "the pretrained window was {a}, not {b}, on both axes",
      .remedy = "divide offsets by pretrained_window_size - 1"},
     read_trained,
     coordinates_trained},
    {CPB,
     {"coordinates_linear", "no logarithm was taken: coordinates are linear, {a} for each unit",
      .remedy = "take sign(x) log2(1 + |x|)/log2(8)"},
     read_linear,
     coordinates_linear},
    {CPB,
     {"coordinates_times", "offsets were {a} times the claimed ones before the logarithm",
      .fitted = true, .remedy = "divide offsets by pretrained_window_size - 1, and multiply by 8"},
     read_ratio,
     coordinates_times},
};
const size_t pe_formula_windows_n = PE_LEN(pe_formula_windows);
