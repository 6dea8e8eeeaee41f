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

/* A number of few bits says little, and one alone. */
static bool is_llama4(pe_sequence *p)
{
    p->fitted = !pe_numbers_change(p->of, p->of->got, p->of->roundoff > 0x1p-12 ? 4 : 1);
    return pe_slip_has(p, "variant", "llama4");
}

#define TURN 6.283185307179586

/* ---- the decay: the mean of cos(offset theta^(-2i/d)) ---- */

typedef struct mean {
    double cosine, sine; /* means */
    double moduli;       /* the mean of those of the partial sums */
} mean;

/* Of the first `pairs`, or all: exponents are 2(first + i)/d. */
static mean mean_of(const pe_sequence *p, size_t e, size_t first, double d, size_t pairs)
{
    const pe_value *offsets = pe_values_find(&p->of->claim->values, "offsets");
    const double offset = pe_positions_at(&offsets->positions, e);
    const double theta = pe_slip_number(p, "rope_theta");
    mean m = {0};
    for (size_t i = 0; i < pairs; i++) {
        const double angle = offset * pow(theta, -2 * (double)(first + i) / d);
        m.cosine += cos(angle);
        m.sine += sin(angle);
        m.moduli += hypot(m.cosine, m.sine) / (double)pairs;
    }
    m.cosine /= (double)pairs;
    m.sine /= (double)pairs;
    return m;
}

/* Waves that are summed for one mistake at most: some tenths of a second. */
#define WAVES_MOST 0x1p22

static bool is_plain(pe_sequence *p)
{
    return (double)p->n * pe_slip_number(p, "rotary_dim") <= WAVES_MOST &&
           pe_slip_has(p, "rope_type", "default");
}

/* What else than the mean of the cosines an offset has; value: which, and_value: of its row. */
enum { SINES, COSINES, MODULUS, PARTIAL_SUMS };
enum { ALL, HALVED, LESS_TWO, NEXT, FAST_HALF };

static double decay(const pe_sequence *p, size_t e)
{
    const int which = (int)p->by->fault.value, how = (int)p->by->fault.and_value;
    const double d = pe_slip_number(p, "rotary_dim");
    const size_t pairs = (size_t)d / 2;
    const mean m = mean_of(p, e, how == NEXT,
                           how == HALVED     ? 2 * d
                           : how == LESS_TWO ? d - 2
                                             : d,
                           how == FAST_HALF ? pairs / 2 : pairs);
    return which == SINES     ? m.sine
           : which == COSINES ? m.cosine
           : which == MODULUS ? hypot(m.cosine, m.sine)
                              : m.moduli;
}

/* ---- the scaled base, which scaled_inv_freq, scaled_wavelength and stretch have ---- */

/* What a tensor has of a pair whose scaled frequency is 1/stretch of the other one. a: the scaled base;
 * 0: b is the stretch of all. */
static double stretched(const pe_sequence *p, size_t e)
{
    const pe_upload_view *view = p->of->view;
    const size_t u = pe_upload_view_tensor(view, e);
    const char *name = view->claim->uploads[u].name;
    const double theta = pe_slip_number(p, "rope_theta");
    const double exponent = 2 * (double)(e - view->tensor_at[u]) / pe_slip_number(p, "head_dim");
    const double w = pow(theta, -exponent);
    const double stretch = p->a == 0 ? p->b : pow(p->a / theta, exponent);
    return strcmp(name, "scaled_inv_freq") == 0     ? w / stretch
           : strcmp(name, "scaled_wavelength") == 0 ? TURN * stretch / w
           : strcmp(name, "stretch") == 0           ? stretch
                                                    : p->claimed[e];
}

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

#define DECAY(WHICH, OF)                                                                           \
    &pe_slip_values, "rope/decay", NULL, .solve = is_plain, .make = decay, .fault.value = (WHICH), \
                                         .fault.and_value = (OF)
#define STRETCH                                                                                    \
    "(method.dynamic ? factor*max(seq_len, max_position_embeddings)/max_position_embeddings - "    \
    "(factor - 1) : factor)"
#define BASE(POWER)                                                                                \
    &pe_slip_values, "rope/scaled-base",                                                           \
        .make = stretched, .a = "rope_theta*" STRETCH "^(" POWER ")",                              \
        .b = "rope_theta*" STRETCH "^(method.linear ? 1 : head_dim/(head_dim - 2))",               \
        .where = "abs(a/b - 1) > 1e-6"
#define LADDER "take the exponents 2i/rotary_dim, i from 0"

static const pe_slip rows[] = {
    PE_SLIP(xpos_reciprocal, XPOS, .op = "1/x"),
    PE_SLIP(xpos_absolute, XPOS, .op = "min(x, 1/x)"), /* where p - center has no sign */
    PE_SLIP(xpos_undivided, XPOS, .op = "(1.4*" ZETA(PAIR, "0.4") ")^" EXPONENT),
    /* of an exponent that was read, a whole one may be just below */
    PE_SLIP(xpos_floored, XPOS, .op = ZETA(PAIR, "0.4") "^floor(" EXPONENT " + 1e-9)"),
    PE_SLIP(xpos_floored, XPOS,
            .op = ZETA(PAIR, "0.4") "^trunc(" EXPONENT " + signed(1e-9, " EXPONENT "))",
            .fault.rule = "exponents were cut to whole numbers, toward 0: an integer division"),
    PE_SLIP(xpos_missing, XPOS, .op = "1"),
    PE_SLIP(xpos_gamma, XPOS, .a = "round(100*" OWN_ZETA "/(1 - " OWN_ZETA "))/100", .b = "0.4",
            .where = "a >= 0 && finite(a) && a != b", .op = ZETA(PAIR, "a") "^" EXPONENT),
    PE_SLIP(xpos_index, XPOS, .op = ZETA("(" PAIR " + 1)", "0.4") "^" EXPONENT),
    PE_SLIP(xpos_exponent, XPOS, .op = ZETA("(" PAIR "/2)", "0.4") "^" EXPONENT),
    PE_SLIP(xpos_reversed, XPOS, .op = "x[i + columns - 1 - 2*" PAIR "]"),
    PE_SLIP(xpos_applied, APPLIED, .make = with_scale, .fault.value = 1),
    PE_SLIP(
        xpos_applied, APPLIED, .make = with_scale,
        .fault.rule =
            "cosines and sines were divided by the scale: that of keys was applied to them, too",
        .fault.value = -1),
    PE_SLIP(scale_missing, ATTENTION, .op = "1",
            .fault.rule = "every scale is 1: what is claimed was not applied",
            .fault.remedy = "multiply queries by the scale of their position"),
    PE_SLIP(scale_log2, ATTENTION, BETA, .op = "1 + (x - 1)/ln(2)"),
    PE_SLIP(scale_log10, ATTENTION, BETA, .op = "1 + (x - 1)/ln(10)"),
    PE_SLIP(scale_linear, ATTENTION, .solve = is_llama4, .op = "1 + beta*floor(" STEPS ")"),
    PE_SLIP(scale_of_steps, ATTENTION, .solve = is_llama4,
            .op = SCALE("max(floor(" STEPS ") - 1, 0)")),
    PE_SLIP(scale_log1p, ATTENTION, .where = "variant.inkling", .op = SCALE(STEPS)),
    PE_SLIP(scale_unfloored, ATTENTION, .solve = is_llama4, .op = SCALE(STEPS)),
    PE_SLIP(scale_unfloored, ATTENTION, .solve = is_llama4, .op = SCALE("ceil(" STEPS ")"),
            .fault.rule = "positions over the original length were rounded up: ceil for floor"),
    PE_SLIP(scale_unfloored, ATTENTION, .solve = is_llama4, .op = SCALE("rint(" STEPS ")"),
            .fault.rule =
                "positions over the original length were rounded to the nearest, not down"),
    PE_SLIP(scale_unlimited, ATTENTION, .where = "variant.llama4 == 0", /* those below 1, too */
            .op = "variant.qwen ? 1 + ln(" STEPS ")/ln(original_max_position_embeddings) : 1 + "
                  "beta*ln(" STEPS ")"),
    PE_SLIP(scale_alone, ATTENTION, BETA, .op = "x - 1"),
    PE_SLIP(scale_squared, ATTENTION, .op = "x^2"),
    PE_SLIP(scale_root, ATTENTION, .op = "sqrt(x)"),
    PE_SLIP(scale_reciprocal, ATTENTION, .op = "1/x"),
    PE_SLIP(decay_sine, DECAY(SINES, ALL)),
    PE_SLIP(exponents_halved, DECAY(COSINES, HALVED),
            .fault.rule = "exponents were halved, as if divided by twice the dimension",
            .fault.remedy = "divide 2i by rotary_dim"),
    PE_SLIP(denominator_minus_two, DECAY(COSINES, LESS_TWO),
            .fault.rule = "exponents were divided by d - 2, not by d", .fault.remedy = LADDER),
    PE_SLIP(index_plus_one, DECAY(COSINES, NEXT),
            .fault.rule = "exponents count from 1: pair i has the frequency of pair i + 1",
            .fault.remedy = LADDER),
    PE_SLIP(decay_squared, &pe_slip_values, "rope/decay", .op = "x^2"),
    PE_SLIP(decay_of_half, DECAY(COSINES, FAST_HALF)),
    PE_SLIP(decay_modulus, DECAY(MODULUS, ALL)),
    PE_SLIP(decay_bound, DECAY(PARTIAL_SUMS, ALL)),
    PE_SLIP(base_scaled, BASE("(head_dim - 2)/head_dim"),
            .fault.rule = "the factor was raised to (d - 2)/d: the scaled base was {a}, not {b}"),
    PE_SLIP(base_scaled, BASE("head_dim/(head_dim - 4)"),
            .fault.rule = "the factor was raised to d/(d - 4), as if d were the number of pairs: "
                          "the scaled base was "
                          "{a}, not {b}"),
    PE_SLIP(base_scaled, BASE("head_dim/(head_dim - 1)"),
            .fault.rule = "the factor was raised to d/(d - 1): the scaled base was {a}, not {b}"),
    PE_SLIP(base_scaled, BASE("1"),
            .fault.rule = "rope_theta was multiplied by the factor itself, without an exponent: "
                          "the scaled base was "
                          "{a}, not {b}"),
    PE_SLIP(linear_for_base, &pe_slip_values, "rope/scaled-base", .make = stretched, .b = STRETCH),
    PE_SLIP(stretch_inverted, &pe_slip_values, "rope/scaled-base", "stretch", .op = "1/x"),
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
const pe_slips pe_mistakes_of_scales = {rows, PE_LEN(rows)};
