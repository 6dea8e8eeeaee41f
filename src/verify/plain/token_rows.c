/* SPDX-License-Identifier: MIT */
/* token_rows.c - how tokens with positions on several axes go wrong: positions (op) and frequencies (also). */
#include <math.h>

#include "verify/plain/plain_waves.h"

/* ---- which axis turns each pair ---- */

enum { SECTIONS = 3 };

/* As Qwen2-VL and Qwen3-VL give pairs to axes. */
static size_t section_of(const double *size, bool interleaved, size_t i)
{
    const double at = (double)i;
    const size_t k = i % SECTIONS;
    if (interleaved)
        return k > 0 && at < SECTIONS * size[k] ? k : 0;
    return at < size[0] ? 0 : at < size[0] + size[1] ? 1 : 2;
}

/* Does the axis turn the uploaded pair by the claimed frequency? */
static bool turns(const pe_sequence *p, size_t i, size_t axis)
{
    return pe_waves_follow(p, i, axis, ((const pe_waves *)p->state)->claimed.frequency[i]);
}

static bool are_sections(const pe_sequence *p, bool interleaved, const double *size)
{
    pe_waves *t = p->state;
    size_t i = 0;
    for (; i < t->pairs && turns(p, i, section_of(size, interleaved, i)); i++)
        t->claimed.axis[t->pairs + i] = section_of(size, interleaved, i);
    return i == t->pairs && size[0] > 0 && size[1] > 0 && size[2] > 0;
}

/* The claimed ones, or those that are read off the pairs. False: some pair turns otherwise. */
static bool find_sections(const pe_sequence *p, bool interleaved, double *size)
{
    const size_t pairs = ((const pe_waves *)p->state)->pairs;
    size_t i, axis = 0;
    if (are_sections(p, interleaved, size))
        return true;
    size[1] = size[2] = 0;
    for (size_t k = 1; k < SECTIONS && interleaved; k++)
        for (i = k; i < pairs && turns(p, i, k); i += SECTIONS)
            size[k]++;
    for (i = 0; i < pairs && axis < SECTIONS && !interleaved; i++) {
        while (axis < SECTIONS && !turns(p, i, axis))
            axis++;
        if (axis > 0 && axis < SECTIONS)
            size[axis]++;
    }
    size[0] = (double)pairs - size[1] - size[2];
    return are_sections(p, interleaved, size);
}

/* value: 1 where pairs stand in blocks for in turn, or the other way round. */
static bool read_sections(pe_sequence *p)
{
    pe_waves *t = p->state;
    const pe_value *flag = pe_values_find(p->values, "mrope_interleaved");
    if (t->of != PE_PAIRS_OF_AXES || t->is.sections == 0)
        return false;
    const double *claimed = pe_values_find(p->values, "mrope_section")->list;
    const bool in_turn = (flag != NULL && flag->present && flag->truth) != (p->a != 0);
    double size[SECTIONS] = {claimed[0], claimed[1], claimed[2]};
    if (!find_sections(p, in_turn, size))
        return false;
    pe_waves_share(t, t->claimed.axis + t->pairs);
    pe_slip_say(p, " %g,%g,%g %s, not %g,%g,%g", size[0], size[1], size[2],
                in_turn ? "interleaved" : "in blocks (sections)", claimed[0], claimed[1],
                claimed[2]);
    return true;
}

/* The first pair from i on that turns as the first one of the axis, whose exponent is 0 whatever the
 * base and the number of its channels. */
static size_t find_start(const pe_sequence *p, size_t axis, size_t i)
{
    const pe_waves *t = p->state;
    while (i < t->pairs && !pe_waves_follow(p, i, axis, 1))
        i++;
    return i;
}

static bool read_dims(pe_sequence *p)
{
    pe_waves *t = p->state;
    size_t *axis = t->claimed.axis + t->pairs, start = 0;
    if (t->of != PE_PAIRS_OF_AXES || t->is.sections != 0 || find_start(p, 0, 0) > 0)
        return false;
    for (size_t a = 0; a < t->axes && start < t->pairs; a++) {
        const size_t end = a + 1 < t->axes ? find_start(p, a + 1, start + 1) : t->pairs;
        pe_slip_say(p, "%s %zu", a > 0 ? "," : "", 2 * (end - start));
        for (; start < end; start++)
            axis[start] = a;
    }
    pe_waves_share(t, axis);
    return t->count[t->pairs - 1] > 0 && axis[t->pairs - 1] == t->axes - 1;
}

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
#define EXCHANGED                                                                                  \
    .op = AXIS " == a ? x[b*rows + " ROW "] : " AXIS " == b ? x[a*rows + " ROW "] : x",            \
    .fault.rule = "axes {a} and {b} are exchanged"
/* Within the image that holds the first item that moved. */
#define EXCHANGED_WITHIN                                                                           \
    .op = "run[" ROW "] != run[" MOVED " % rows] ? x : " AXIS " == a ? x[b*rows + " ROW            \
          "] : " AXIS " == b ? x[a*rows + " ROW "] : x",                                           \
    .fault.rule = "axes {a} and {b} of an image are exchanged"
#define FOR_ANOTHER                                                                                \
    .op = AXIS " == a ? x[b*rows + " ROW "] : x",                                                  \
    .fault.rule = "axis {a} has the positions of axis {b}"
#define IS_OF(AXIS) "sum(y != x[" AXIS "*rows + " ROW "]) == 0"
#define FOR_ALL                                                                                    \
    .a = IS_OF("0") " ? 0 : " IS_OF("1") " ? 1 : 2", .op = "x[a*rows + " ROW "]",                  \
    .fault.rule = "all axes have the positions of axis {a}"
#define SHIFTED                                                                                    \
    .a = "y - x", .op = "x + a", .fault.rule = "positions have an offset of {a} on each axis"
#define FROM_ON                                                                                    \
    .a = "y[" MOVED "] - x[" MOVED "]", .b = MOVED " % rows", .op = ROW " < b ? x : x + a"
#define RUNNING .op = "y[0] + " ROW, .fault.rule = "all axes have running numbers, as text"

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
    TOKENS(axes_dims, .solve = read_dims, .also = "rope_theta^(-index/count)",
           .fault.rule = "pairs are shared out among the axes otherwise: axes_dims was"),
    TOKENS(mrope_sections, .solve = read_sections, .fault.rule = "mrope_section was"),
    TOKENS(mrope_interleaved, .solve = read_sections, .fault.rule = "mrope_section was",
           .fault.value = 1),
    TOKENS(axes_one_ladder, OWN, .also = "rope_theta^(-i/pairs)",
           .fault.rule = "all axes share the same frequencies: exponents count on over all"),
    TOKENS(axes_exponents, OWN, .also = "rope_theta^(-index/pairs)",
           .fault.rule = "exponents of each axis are divided by head_dim, not by its channels"),
    TOKENS(axes_exponents, .also = "w^(sections ? pairs/(pairs - 1) : count/(count - 1))",
           .fault.rule = "exponents are j/(n - 1), not j/n: linspace with both ends included"),
    TOKENS(mrope_ladder_restarts, SHARED, .also = "rope_theta^(-index/pairs)",
           .fault.rule = "frequencies restart in each section: its pairs count from 0"),
    TOKENS(mrope_ladder_restarts, SHARED, .also = "rope_theta^(-index/count)",
           .fault.rule = "frequencies restart in each section: it has a inv_freq of its own"),
    TOKENS(rope_theta, .solve = pe_waves_read_base, .also = "w^(ln(a)/ln(b))",
           .fault.param = "rope_theta"),
    TOKENS(rope_theta, OWN, .solve = pe_waves_read_base, .fault.value = 1,
           .also = "of == axis_read ? w^(ln(a)/ln(b)) : w",
           .fault.rule = "rope_theta, the base of one axis, was {a}, not {b}"),
    TOKENS(axes_exchanged, OWN, ANOTHER("1"), EXCHANGED),
    TOKENS(axes_exchanged, OWN, ANOTHER("2"), EXCHANGED),
    TOKENS(mrope_axes_exchanged, SHARED, ANOTHER("1"), EXCHANGED),
    TOKENS(mrope_axes_exchanged, SHARED, ANOTHER("2"), EXCHANGED),
    TOKENS(axes_text_positions, OWN, RUNNING),
    TOKENS(mrope_text_positions, SHARED, RUNNING),
    TOKENS(one_axis, OWN, FOR_ALL),
    TOKENS(one_axis, OWN, ANOTHER("1"), FOR_ANOTHER),
    TOKENS(one_axis, OWN, ANOTHER("2"), FOR_ANOTHER),
    TOKENS(mrope_one_axis, SHARED, FOR_ALL),
    TOKENS(mrope_one_axis, SHARED, ANOTHER("1"), FOR_ANOTHER),
    TOKENS(mrope_one_axis, SHARED, ANOTHER("2"), FOR_ANOTHER),
    TOKENS(axes_shifted, OWN, SHIFTED),
    TOKENS(mrope_positions_shifted, SHARED, SHIFTED),
    TOKENS(axes_scaled, .a = "y[" FAR "]/x[" FAR "]", .op = "a*x",
           .where = "2*sum(abs(y - a*x) < 0.03) > n",
           .fault.rule = "positions were interpolated (linear scaling): each axis was multiplied "
                         "by {a}"),
    TOKENS(mrope_axis_shifted, SHARED, .a = "floor(" MOVED "/rows)",
           .b = "y[" MOVED "] - x[" MOVED "]", .op = AXIS " == a ? x + b : x",
           .fault.rule = "axis {a} has an offset of {b}"),
    TOKENS(mrope_image_axes, SHARED, ANOTHER("1"), EXCHANGED_WITHIN),
    TOKENS(mrope_image_axes, SHARED, ANOTHER("2"), EXCHANGED_WITHIN),
    TOKENS(mrope_image_place, SPREAD("-"),
           .fault.rule = "patches of the image are stuck at its start"),
    TOKENS(mrope_image_stride, SPREAD("+"),
           .fault.rule = "the image was multiplied by 2 from its start: its merge was ignored"),
    TOKENS(mrope_start_scaled, .a = "y[first(" IMAGE ")]/x[first(" IMAGE ")]",
           .where = "a >= 2 && a == floor(a)",
           .op = IMAGE " && " AXIS " == 0 ? x + (a - 1)*x[" START "] : x",
           .fault.rule = "the start of the image was multiplied by {a} on the axis of time, as by "
                         "tokens_per_second"),
    TOKENS(mrope_image_time, .a = "y[" MOVED "] - x[" MOVED "]",
           .op = IMAGE " && " AXIS " == 0 ? x + y[" START "] - x[" START "] : x",
           .fault.rule = "time of the image is shifted by {a}"),
    TOKENS(mrope_image_start, .a = "y[" MOVED "] - x[" MOVED "]",
           .op = IMAGE " ? x + y[" START "] - x[" START "] : x",
           .fault.rule = "the image is shifted by {a}"),
    TOKENS(mrope_image_start, FROM_ON, .where = "image[b]",
           .fault.rule = "the image, and what is behind it, is shifted by {a}"),
    TOKENS(mrope_text_after, FROM_ON, .where = "image[b] == 0 && run[b] > 0",
           .fault.rule = "text after the image is shifted by {a}: rows {b} and later"),
    TOKENS(axis_positions_in_part, .a = "y[" MOVED "] - x[" MOVED "]",
           .b = "most(y != x ? " ROW " : none)", .op = ROW " > b ? x : x + a",
           .fault.rule = "tokens up to row {b} are shifted by {a} on each axis"),
    TOKENS(axis_positions_in_part, OWN, FROM_ON,
           .fault.rule = "tokens from {b} on are shifted by {a} on each axis"),
    TOKENS(axis_positions, .solve = say_lines, .fault.if_alone = true,
           .op = "x[" HIGH "] > x[" LOW "] ? y[" LOW "] + (x - x[" LOW "])*(y[" HIGH "] - y[" LOW
                 "])/(x[" HIGH "] - x[" LOW "]) : y[" LOW "]",
           .fault.rule = "positions of axes are others"),
    TOKENS(mrope_image_columns, SHARED, COLUMNS,
           .fault.rule = "patches of the image, {a} x {b}, go down its columns"),
    TOKENS(mesh_transposed, OWN, COLUMNS,
           .fault.rule = "tokens are in another order: the mesh grid, {a} x {b}, is transposed"),
    TOKENS(axis_positions_in_part, .a = MOVED " % rows", .op = "y", .fault.fitted = true,
           .fault.rule = "positions of axes are others, from row {a} on"),
};
const pe_slips pe_mistakes_of_tokens = {rows, PE_LEN(rows)};
