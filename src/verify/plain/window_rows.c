/* SPDX-License-Identifier: MIT */
/* window_rows.c - indices, coordinates and biases of the windows of Swin. */
#include "verify/plain/plain_slips.h"

/* ---- indices: (dy + h - 1)(2w - 1) + dx + w - 1 ---- */

/* Offsets of rows and of columns, of patches in lines of so many. */
#define QUERY     "floor(i/columns)"
#define KEY       "(i % columns)"
#define DOWN(W)   "(floor(" QUERY "/" W ") - floor(" KEY "/" W "))"
#define ACROSS(W) "(" QUERY " % " W " - " KEY " % " W ")"

#define H        "window_height"
#define W        "window_width"
#define TABLE    "(2*" W " - 1)" /* the stride of a row of the table */
#define ZERO     "((" H " - 1)*" TABLE " + " W " - 1)"
#define ABSOLUTE "abs(" DOWN(W) ")*" TABLE " + abs(" ACROSS(W) ")"
#define STRIDE   "abs(y[" W "*columns] - y[0])" /* of either sign */

/* ---- coordinates: sign(x) log2(1 + |x|)/3, x = 8 offset/(pretrained - 1) ---- */

#define UNFOLDED(X)   "(exp2(3*abs(" X ")) - 1)"
#define FOLDED(TIMES) "signed(log2(1 + " UNFOLDED("x") "*(" TIMES "))/3, x)"
#define TRAINED       "(i % 2 == 0 ? pretrained_window_height : pretrained_window_width)"
#define LAST          "((i % 2 == 0 ? " H " : " W ") - 1 + a)"

/* ---- the rows ---- */

#define INDEX   &pe_slip_values, "swin/index", NULL
#define CPB     &pe_slip_values, "swin/coordinates", NULL
#define OFFSETS "absolute offsets of rows and columns were taken: their sign (direction) is lost"
#define SIGNED  "take query - key of both coordinates, with its sign"
#define ADD     "add window_height - 1 to the offset of rows, window_width - 1 to that of columns"

static const pe_slip rows[] = {
    PE_SLIP(bias_sigmoid, &pe_slip_values, "swin/bias", .op = "16/(1 + exp(-x))"),
    /* of indices that were looked up: below 0 they count from the end, and no line goes through them */
    PE_SLIP(index_mirrored, INDEX, .where = "looked_up", .op = "2*x[0] - x",
            .fault.rule =
                "indices run in the opposite direction: key - query was taken for query - key",
            .fault.remedy = SIGNED),
    PE_SLIP(swin_axes, INDEX,
            .op = DOWN(W) " + (2*" H " - 1)*" ACROSS(W) " + (" W " - 1)*(2*" H " - 1) + " H " - 1"),
    PE_SLIP(swin_mirrored, INDEX, .op = DOWN(W) "*" TABLE " - " ACROSS(W) " + " ZERO),
    PE_SLIP(swin_mirrored, INDEX, .op = ACROSS(W) " - " DOWN(W) "*" TABLE " + " ZERO,
            .fault.rule = "the offset of rows has the other sign: rows are upside down"),
    PE_SLIP(swin_absolute, INDEX, .op = ABSOLUTE),
    PE_SLIP(swin_absolute, INDEX, .op = ABSOLUTE " + " ZERO, .fault.rule = OFFSETS),
    PE_SLIP(swin_mesh, INDEX, .op = DOWN(H) " + " TABLE "*" ACROSS(H) " + " ZERO),
    PE_SLIP(swin_stride, INDEX, .a = STRIDE, .b = TABLE, .where = H " >= 2 && a != b",
            .op = DOWN(W) "*a + " ACROSS(W) " + (" H " - 1)*a + " W " - 1"),
    PE_SLIP(offset_missing, INDEX, .op = DOWN(W) "*" TABLE " + " ACROSS(W)),
    PE_SLIP(offset, INDEX, .a = "y[0] - x[0]", .where = "a != 0 && looked_up", .op = "x + a",
            .fault.rule = "an offset of {a} was added to every index", .fault.remedy = ADD),
    PE_SLIP(swin_table, INDEX, .a = "(" STRIDE " + 1)/2", .b = W, /* a square window */
            .where = H " >= 2 && a == floor(a) && a > b && y[0] == (a - 1)*2*a",
            .op = DOWN(W) "*(2*a - 1) + " ACROSS(W) " + (a - 1)*2*a"),
    PE_SLIP(swin_axes, CPB, .op = "x[i + 1 - 2*(i % 2)]",
            .fault.rule = "rows and columns are exchanged: the axes of the coordinates",
            .fault.remedy = "put the coordinate of rows first"),
    PE_SLIP(coordinates_absolute, CPB, .op = "abs(x)",
            .fault.rule = "coordinates are absolute values: their sign is lost",
            .fault.remedy = "multiply by the sign of the offset"),
    PE_SLIP(pretrained_ignored, CPB, .op = LAST " > 0 ? " FOLDED("(" TRAINED " - 1)/" LAST) " : x"),
    PE_SLIP(
        pretrained_ignored, CPB, .op = LAST " > 0 ? " FOLDED("(" TRAINED " - 1)/" LAST) " : x",
        .fault.rule =
            "offsets were divided by the window's own size, and not by that less 1: the pretrained "
            "window was ignored",
        .fault.value = 1),
    PE_SLIP(window_not_less_one, CPB, .op = FOLDED("(" TRAINED " - 1)/" TRAINED)),
    PE_SLIP(coordinates_times, CPB, .op = FOLDED("1/8")),
    PE_SLIP(coordinates_times, CPB,
            .a = "2^round(log2(8*" UNFOLDED("y[0]") "/" UNFOLDED("x[0]") "))", .b = "8",
            .where = "a != 8", .op = FOLDED("a/8"),
            .fault.rule = "offsets were scaled by {a} before the logarithm, not by {b}"),
    PE_SLIP(pretrained_window, CPB, /* one of the sizes that people train, on both axes */
            .a = "1 + round((" TRAINED " - 1)*" UNFOLDED("x[0]") "/" UNFOLDED("y[0]") ")",
            .b = TRAINED, .where = "a > 1 && (a <= 16 || a % 8 == 0) && a <= 64 && a != b",
            .op = FOLDED("(" TRAINED " - 1)/(a - 1)")),
    PE_SLIP(coordinates_linear, CPB, .a = "abs(y[0])/" UNFOLDED("x[0]"), .where = "finite(a)",
            .op = "signed(" UNFOLDED("x") "*a, x)",
            .fault.rule = "no logarithm was taken: coordinates are linear, {a} for each unit",
            .fault.remedy = "take sign(x) log2(1 + |x|)/log2(8)"),
};
const pe_slips pe_mistakes_of_windows = {rows, PE_LEN(rows)};
