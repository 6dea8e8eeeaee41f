/* SPDX-License-Identifier: MIT */
/* token_rows.c - how tokens with positions on several axes go wrong: positions (op) and frequencies (also). */
#include <math.h>

#include "verify/plain/plain_waves.h"

/* ---- each axis by itself ---- */

/* What became of each axis, from where it is claimed lowest to where it is highest. */
static bool say_lines(pe_sequence *p)
{
    const pe_waves *t = p->state;
    for (size_t a = 0; a < t->axes; a++) {
        const double low = (double)(a * t->rows) + t->low[a];
        const double high = (double)(a * t->rows) + t->high[a];
        const double x = p->claimed[(size_t)low], y = pe_waves_seen(p, low);
        const double times = (pe_waves_seen(p, high) - y) / (p->claimed[(size_t)high] - x);
        if (times < 0)
            return false; /* a turn the other way is another mistake */
        const bool scaled = isfinite(times) && times != 1;
        const double moved = y - (scaled ? times * x : x);
        if (times == 0) {
            pe_slip_say(p, "; axis %zu is %.7g everywhere: constant", a, y);
            continue;
        }
        if (scaled)
            pe_slip_say(p, "; axis %zu was multiplied by %.7g", a, times);
        if (moved != 0 && scaled)
            pe_slip_say(p, ", then shifted by %.7g", moved);
        else if (moved != 0)
            pe_slip_say(p, "; axis %zu is shifted by %.7g", a, moved);
    }
    return true;
}

/* ---- the rows ---- */

#define TOKENS(NAME, ...) PE_SLIP(NAME, &pe_slip_waves, PE_OF_TOKENS, NULL, __VA_ARGS__)
#define OWN               .where = "sections == 0" /* each axis has a inv_freq of its own */
#define SHARED            .where = "sections"      /* axes share one, as in M-RoPE */

/* Of item i, the position of a token on an axis. */
#define AXIS  "floor(i/rows)"
#define ROW   "i % rows"
#define IMAGE "image[" ROW "]"
#define START "(" AXIS "*rows + run[" ROW "])" /* the item where its run begins */
#define LOW   "(" AXIS "*rows + low[" AXIS "])"
#define HIGH  "(" AXIS "*rows + high[" AXIS "])"

/* The first item that is not as claimed; the farthest one. */
#define MOVED "first(y != x)"
#define FAR   "first(x == most(x))"

#define ANOTHER(BY) .a = "floor(" MOVED "/rows)", .b = "(a + " BY ") % axes"
#define EXCHANGED   .op = AXIS " == a ? x[b*rows + " ROW "] : " AXIS " == b ? x[a*rows + " ROW "] : x"
/* Within the image that holds the first item that moved. */
#define EXCHANGED_WITHIN                                                                           \
    .op = "run[" ROW "] != run[" MOVED " % rows] ? x : " AXIS " == a ? x[b*rows + " ROW            \
          "] : " AXIS " == b ? x[a*rows + " ROW "] : x"
#define FOR_ANOTHER .op = AXIS " == a ? x[b*rows + " ROW "] : x"
#define IS_OF(AXIS) "sum(y != x[" AXIS "*rows + " ROW "]) == 0"
#define FOR_ALL     .a = IS_OF("0") " ? 0 : " IS_OF("1") " ? 1 : 2", .op = "x[a*rows + " ROW "]"
#define SHIFTED     .a = "y - x", .op = "x + a"
#define FROM_ON                                                                                    \
    .a = "y[" MOVED "] - x[" MOVED "]", .b = MOVED " % rows", .op = ROW " < b ? x : x + a"
#define RUNNING .op = "y[0] + " ROW

/* Places of the last two axes, of an image or a mesh; they go down the columns. */
#define WITHIN  "(sections == 0 || " IMAGE ")"
#define SIZE(K) "most(" AXIS " == axes - " K " && " WITHIN " ? x - x[" START "] + 1 : none)"
#define PATCH   "(" ROW " - run[" ROW "])"
#define COLUMNS                                                                                    \
    .a = SIZE("2"), .b = SIZE("1"),                                                                \
    .op = WITHIN " ? x[" START " + floor(" PATCH "/(a*b))*a*b + " PATCH                            \
                 " % (a*b) % a*b + floor(" PATCH " % (a*b)/a)] : x"
/* Patches are farther from the start of their image, or nearer; time is, too (a), and the text behind (b). */
#define SPREAD(BY)                                                                                 \
    .a = "most(" AXIS " == 0 && " IMAGE " && y != x)", .b = "most(" IMAGE " == 0 && y != x)",      \
    .op = "x " BY " (b*past[" ROW "] + " IMAGE "*(a || " AXIS " > 0)*(x - x[" START "]))"

static const pe_slip rows[] = {
    TOKENS(axes_one_ladder, OWN, .also = "rope_theta^(-i/pairs)"),
    TOKENS(axes_exponents, OWN, .also = "rope_theta^(-index/pairs)"),
    TOKENS(axes_exponents_linspace, .also = "w^(sections ? pairs/(pairs - 1) : count/(count - 1))"),
    TOKENS(mrope_ladder_restarts, SHARED, .also = "rope_theta^(-index/pairs)"),
    TOKENS(mrope_ladder_restarts_own, SHARED, .also = "rope_theta^(-index/count)"),
    TOKENS(rope_theta, .solve = pe_waves_read_base, .also = "w^(ln(a)/ln(b))",
           .fault.param = "rope_theta"),
    TOKENS(rope_theta_axis, OWN, .solve = pe_waves_read_base, .fault.value = 1,
           .also = "of == axis_read ? w^(ln(a)/ln(b)) : w"),
    TOKENS(axes_exchanged_tokens, OWN, ANOTHER("1"), EXCHANGED),
    TOKENS(axes_exchanged_tokens, OWN, ANOTHER("2"), EXCHANGED),
    TOKENS(mrope_axes_exchanged, SHARED, ANOTHER("1"), EXCHANGED),
    TOKENS(mrope_axes_exchanged, SHARED, ANOTHER("2"), EXCHANGED),
    TOKENS(axes_text_positions, OWN, RUNNING),
    TOKENS(mrope_text_positions, SHARED, RUNNING),
    TOKENS(one_axis_all, OWN, FOR_ALL),
    TOKENS(one_axis_other, OWN, ANOTHER("1"), FOR_ANOTHER),
    TOKENS(one_axis_other, OWN, ANOTHER("2"), FOR_ANOTHER),
    TOKENS(mrope_one_axis, SHARED, FOR_ALL),
    TOKENS(mrope_one_axis_other, SHARED, ANOTHER("1"), FOR_ANOTHER),
    TOKENS(mrope_one_axis_other, SHARED, ANOTHER("2"), FOR_ANOTHER),
    TOKENS(axes_shifted, OWN, SHIFTED),
    TOKENS(mrope_positions_shifted, SHARED, SHIFTED),
    TOKENS(axes_scaled, .a = "y[" FAR "]/x[" FAR "]", .op = "a*x",
           .where = "2*sum(abs(y - a*x) < 0.03) > n"),
    TOKENS(mrope_axis_shifted, SHARED, .a = "floor(" MOVED "/rows)",
           .b = "y[" MOVED "] - x[" MOVED "]", .op = AXIS " == a ? x + b : x"),
    TOKENS(mrope_image_axes, SHARED, ANOTHER("1"), EXCHANGED_WITHIN),
    TOKENS(mrope_image_axes, SHARED, ANOTHER("2"), EXCHANGED_WITHIN),
    TOKENS(mrope_image_place, SPREAD("-")),
    TOKENS(mrope_image_stride, SPREAD("+")),
    TOKENS(mrope_start_scaled, .a = "y[first(" IMAGE ")]/x[first(" IMAGE ")]",
           .where = "a >= 2 && a == floor(a)",
           .op = IMAGE " && " AXIS " == 0 ? x + (a - 1)*x[" START "] : x"),
    TOKENS(mrope_image_time, .a = "y[" MOVED "] - x[" MOVED "]",
           .op = IMAGE " && " AXIS " == 0 ? x + y[" START "] - x[" START "] : x"),
    TOKENS(mrope_image_start, .a = "y[" MOVED "] - x[" MOVED "]",
           .op = IMAGE " ? x + y[" START "] - x[" START "] : x"),
    TOKENS(mrope_image_start_behind, FROM_ON, .where = "image[b]"),
    TOKENS(mrope_text_after, FROM_ON, .where = "image[b] == 0 && run[b] > 0"),
    TOKENS(axis_positions_in_part, .a = "y[" MOVED "] - x[" MOVED "]",
           .b = "most(y != x ? " ROW " : none)", .op = ROW " > b ? x : x + a"),
    TOKENS(axis_positions_in_part_from, OWN, FROM_ON),
    TOKENS(axis_positions, .solve = say_lines, .fault.if_alone = true,
           .op = "x[" HIGH "] > x[" LOW "] ? y[" LOW "] + (x - x[" LOW "])*(y[" HIGH "] - y[" LOW
                 "])/(x[" HIGH "] - x[" LOW "]) : y[" LOW "]"),
    TOKENS(mrope_image_columns, SHARED, COLUMNS),
    TOKENS(mesh_transposed_tokens, OWN, COLUMNS),
    TOKENS(axis_positions_in_part_others, .a = MOVED " % rows", .op = "y", .fault.fitted = true),
};
const pe_slips pe_mistakes_of_tokens = {rows, PE_LEN(rows)};
