/* SPDX-License-Identifier: MIT */
/* scale_rows.c - scales of xPos and of attention, means of cosines, scaled bases, windows of Swin. */
#include <math.h>
#include <string.h>

#include "verify/plain/plain_slips.h"

/* ---- xPos: zeta^((p - center)/scale_base), zeta = (2i/d + 0.4)/1.4 ---- */

/* Cosines and sines times a power of the scale; all tensors have as many elements. */
static double with_scale(const pe_sequence *p, size_t e)
{
    const pe_upload_view *view = p->of->view;
    const size_t own = pe_upload_view_tensor(view, e);
    size_t u = 0;
    while (u < view->n_tensors && strcmp(view->claim->uploads[u].name, "scale") != 0)
        u++;
    const size_t at = u < view->n_tensors ? view->tensor_at[u] + e - view->tensor_at[own] : p->n;
    return u == own || at >= p->n ? p->claimed[e] : p->claimed[e] * pow(p->claimed[at], p->a);
}

/* ---- attention: 1 + beta ln(1 + floor(n/N)), n = p + position_offset ---- */

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

#define INDEX   &pe_slip_values, "swin/index", NULL
#define CPB     &pe_slip_values, "swin/coordinates", NULL
#define OFFSETS "absolute offsets of rows and columns were taken: their sign (direction) is lost"
#define SIGNED  "take query - key of both coordinates, with its sign"
#define ADD     "add window_height - 1 to the offset of rows, window_width - 1 to that of columns"

/* ---- the rows ---- */

#define PAIR              "(i % columns)"
#define ZETA(PAIR, GAMMA) "((" PAIR "/columns + " GAMMA ")/(1 + " GAMMA "))"
#define EXPONENT          "(ln(x[i - " PAIR "])/ln(0.4/1.4))"
/* Of pair 0 zeta is gamma/(1 + gamma): where it is farthest from 1. */
#define SIZE         "(i % columns == 0 ? abs(ln(x)) : none)"
#define FARTHEST     "first(" SIZE " == most(" SIZE "))"
#define OWN_ZETA     "y[" FARTHEST "]^(ln(0.4/1.4)/ln(x[" FARTHEST "]))"
#define STEPS        "((position + position_offset)/original_max_position_embeddings)"
#define SCALE(STEPS) "1 + beta*log1p(" STEPS ")"
#define BETA         .where = "variant.qwen == 0"

#define XPOS      &pe_slip_values, "rope/xpos/table", "scale"
#define APPLIED   &pe_slip_values, "rope/xpos/table", NULL
#define ATTENTION &pe_slip_values, "rope/attention-scale", NULL

/* Which of the five tensors of a scaled base; what they are stretched by. */
#define OF_FIVE "floor(5*i/n)"
#define STRETCH                                                                                    \
    "(method.dynamic ? 1 + factor*(max(seq_len, max_position_embeddings)/max_position_embeddings " \
    "- 1) : factor)"

static const pe_slip rows[] = {
    PE_SLIP(xpos_reciprocal, XPOS, .op = "1/x"),
    PE_SLIP(xpos_absolute, XPOS, .op = "min(x, 1/x)"), /* where p - center has no sign */
    PE_SLIP(xpos_undivided, XPOS, .op = "(1.4*" ZETA(PAIR, "0.4") ")^" EXPONENT),
    /* of an exponent that was read, a whole one may be just below */
    PE_SLIP(xpos_floored, XPOS, .op = ZETA(PAIR, "0.4") "^floor(" EXPONENT " + 1e-9)"),
    PE_SLIP(xpos_floored_toward_zero, XPOS,
            .op = ZETA(PAIR, "0.4") "^trunc(" EXPONENT " + signed(1e-9, " EXPONENT "))"),
    PE_SLIP(xpos_missing, XPOS, .op = "1"),
    PE_SLIP(xpos_gamma, XPOS, .a = "round(100*" OWN_ZETA "/(1 - " OWN_ZETA "))/100", .b = "0.4",
            .where = "a >= 0 && finite(a) && a != b", .op = ZETA(PAIR, "a") "^" EXPONENT),
    PE_SLIP(xpos_index, XPOS, .op = ZETA("(" PAIR " + 1)", "0.4") "^" EXPONENT),
    PE_SLIP(xpos_exponent, XPOS, .op = ZETA("(" PAIR "/2)", "0.4") "^" EXPONENT),
    PE_SLIP(xpos_reversed, XPOS, .op = "x[i + columns - 1 - 2*" PAIR "]"),
    PE_SLIP(xpos_applied, APPLIED, .make = with_scale, .fault.value = 1),
    PE_SLIP(xpos_applied_keys, APPLIED, .make = with_scale, .fault.value = -1),
    PE_SLIP(scale_missing_everywhere, ATTENTION, .op = "1"),
    PE_SLIP(scale_log2, ATTENTION, BETA, .op = "1 + (x - 1)/ln(2)"),
    PE_SLIP(scale_log10, ATTENTION, BETA, .op = "1 + (x - 1)/ln(10)"),
    PE_SLIP(scale_linear, ATTENTION, .where = "variant.llama4", .op = "1 + beta*floor(" STEPS ")"),
    PE_SLIP(scale_of_steps, ATTENTION, .where = "variant.llama4",
            .op = SCALE("max(floor(" STEPS ") - 1, 0)")),
    PE_SLIP(scale_log1p, ATTENTION, .where = "variant.inkling", .op = SCALE(STEPS)),
    PE_SLIP(scale_unfloored, ATTENTION, .where = "variant.llama4", .op = SCALE(STEPS)),
    PE_SLIP(scale_unfloored_up, ATTENTION, .where = "variant.llama4",
            .op = SCALE("ceil(" STEPS ")")),
    PE_SLIP(scale_unfloored_nearest, ATTENTION, .where = "variant.llama4",
            .op = SCALE("rint(" STEPS ")")),
    PE_SLIP(scale_unlimited, ATTENTION, .where = "variant.llama4 == 0", /* those below 1, too */
            .op = "variant.qwen ? 1 + ln(" STEPS ")/ln(original_max_position_embeddings) : 1 + "
                  "beta*ln(" STEPS ")"),
    PE_SLIP(scale_alone, ATTENTION, BETA, .op = "x - 1"),
    PE_SLIP(scale_squared, ATTENTION, .op = "x^2"),
    PE_SLIP(scale_root, ATTENTION, .op = "sqrt(x)"),
    PE_SLIP(scale_reciprocal, ATTENTION, .op = "1/x"),
    PE_SLIP(decay_squared, &pe_slip_values, "rope/decay", .op = "x^2"),
    PE_SLIP(linear_for_base, &pe_slip_values, "rope/scaled-base", .where = "5*head_dim == 2*n",
            .op = OF_FIVE " == 1 ? x[i - n/5]/" STRETCH " : " OF_FIVE " == 3 ? x[i - n/5]*" STRETCH
                          " : " OF_FIVE " == 4 ? " STRETCH " : x"),
    PE_SLIP(stretch_inverted, &pe_slip_values, "rope/scaled-base", "stretch", .op = "1/x"),
    PE_SLIP(bias_sigmoid, &pe_slip_values, "swin/bias", .op = "16/(1 + exp(-x))"),
    /* of indices that were looked up: below 0 they count from the end, and no line goes through them */
    PE_SLIP(index_mirrored_looked_up, INDEX, .where = "looked_up", .op = "2*x[0] - x"),
    PE_SLIP(swin_axes, INDEX,
            .op = DOWN(W) " + (2*" H " - 1)*" ACROSS(W) " + (" W " - 1)*(2*" H " - 1) + " H " - 1"),
    PE_SLIP(swin_mirrored, INDEX, .op = DOWN(W) "*" TABLE " - " ACROSS(W) " + " ZERO),
    PE_SLIP(swin_mirrored_rows, INDEX, .op = ACROSS(W) " - " DOWN(W) "*" TABLE " + " ZERO),
    PE_SLIP(swin_absolute, INDEX, .op = ABSOLUTE),
    PE_SLIP(swin_absolute, INDEX, .op = ABSOLUTE " + " ZERO, .fault.rule = OFFSETS),
    PE_SLIP(swin_mesh, INDEX, .op = DOWN(H) " + " TABLE "*" ACROSS(H) " + " ZERO),
    PE_SLIP(swin_stride, INDEX, .a = STRIDE, .b = TABLE, .where = H " >= 2 && a != b",
            .op = DOWN(W) "*a + " ACROSS(W) " + (" H " - 1)*a + " W " - 1"),
    PE_SLIP(offset_missing, INDEX, .op = DOWN(W) "*" TABLE " + " ACROSS(W)),
    PE_SLIP(offset_index, INDEX, .a = "y[0] - x[0]", .where = "a != 0 && looked_up", .op = "x + a"),
    PE_SLIP(swin_table, INDEX, .a = "(" STRIDE " + 1)/2", .b = W, /* a square window */
            .where = H " >= 2 && a == floor(a) && a > b && y[0] == (a - 1)*2*a",
            .op = DOWN(W) "*(2*a - 1) + " ACROSS(W) " + (a - 1)*2*a"),
    PE_SLIP(swin_axes_coordinates, CPB, .op = "x[i + 1 - 2*(i % 2)]"),
    PE_SLIP(coordinates_absolute_sign, CPB, .op = "abs(x)"),
    PE_SLIP(pretrained_ignored, CPB, .op = LAST " > 0 ? " FOLDED("(" TRAINED " - 1)/" LAST) " : x"),
    PE_SLIP(pretrained_ignored_size, CPB,
            .op = LAST " > 0 ? " FOLDED("(" TRAINED " - 1)/" LAST) " : x", .fault.value = 1),
    PE_SLIP(window_not_less_one, CPB, .op = FOLDED("(" TRAINED " - 1)/" TRAINED)),
    PE_SLIP(coordinates_times, CPB, .op = FOLDED("1/8")),
    PE_SLIP(coordinates_times_other, CPB,
            .a = "2^round(log2(8*" UNFOLDED("y[0]") "/" UNFOLDED("x[0]") "))", .b = "8",
            .where = "a != 8", .op = FOLDED("a/8")),
    PE_SLIP(pretrained_window, CPB, /* one of the sizes that people train, on both axes */
            .a = "1 + round((" TRAINED " - 1)*" UNFOLDED("x[0]") "/" UNFOLDED("y[0]") ")",
            .b = TRAINED, .where = "a > 1 && (a <= 16 || a % 8 == 0) && a <= 64 && a != b",
            .op = FOLDED("(" TRAINED " - 1)/(a - 1)")),
    PE_SLIP(coordinates_linear_window, CPB, .a = "abs(y[0])/" UNFOLDED("x[0]"),
            .where = "finite(a)", .op = "signed(" UNFOLDED("x") "*a, x)"),
};
const pe_slips pe_mistakes_of_scales = {rows, PE_LEN(rows)};
