/* SPDX-License-Identifier: MIT */
/* value_rows.c - elements that are functions of the claimed ones: scales, indices, coordinates, padding, any. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verify/plain/plain_slips.h"

/* ---- the stage: elements themselves ---- */

/* What equations name: element = slope claimed + base; and of the row that was looked at last the mean, the
 * standard deviation and the largest number. */
typedef struct values {
    double slope, base, told, whole, looked_up, slopes;
    double mean, deviation, largest;
    size_t row;
} values;

static bool counts(const pe_numbers *of, size_t e)
{
    return isfinite(of->claimed[e]) && isfinite(of->got[e]);
}

/* Through the elements where the claim is least and greatest. */
static void read_line(const pe_numbers *of, values *out)
{
    const double *x = of->claimed, *y = of->got;
    size_t low = SIZE_MAX, high = SIZE_MAX;
    out->slope = out->base = nan("");
    pe_numbers_spend(of, of->elements);
    for (size_t e = 0; e < of->elements; e++)
        if (counts(of, e)) {
            low = low == SIZE_MAX || x[e] < x[low] ? e : low;
            high = high == SIZE_MAX || x[e] > x[high] ? e : high;
        }
    if (low == high || !(x[high] > x[low]))
        return;
    const size_t small = fabs(x[high]) < fabs(x[low]) ? high : low;
    out->slope = (y[high] - y[low]) / (x[high] - x[low]);
    out->base = y[small] - out->slope * x[small];
}

/* By chance one number explains two or three elements of 16 bits. */
static pe_status measure(pe_sequence *p, pe_problem *why PE_UNUSED)
{
    values *state = p->state;
    p->n = p->of->elements;
    read_line(p->of, state);
    state->looked_up = p->of->lookup != NULL;
    state->whole = p->of->roundoff == 0;
    state->slopes = strcmp(p->of->resource, "alibi/slopes") == 0;
    state->told = p->of->lookup == NULL && p->n >= 4 && pe_numbers_change(p->of, p->of->claimed, 4);
    return PE_OK;
}

static void begin(pe_sequence *p)
{
    ((values *)p->state)->row = SIZE_MAX;
}

static bool has_rows(pe_sequence *p)
{
    return p->of->lookup == NULL && p->columns >= 4 && p->of->view->n_tensors == 1 &&
           p->of->roundoff != 0;
}

static void add_up(const pe_sequence *p, size_t first, size_t n, values *out)
{
    double sum = 0;
    out->largest = 0;
    for (size_t i = first; i < first + n; i++) {
        sum += p->claimed[i];
        out->largest = fmax(out->largest, fabs(p->claimed[i]));
    }
    out->mean = sum / (double)n;
    out->deviation = 0;
    for (size_t i = first; i < first + n; i++)
        out->deviation += (p->claimed[i] - out->mean) * (p->claimed[i] - out->mean);
    out->deviation = sqrt(out->deviation / (double)n);
    pe_numbers_spend(p->of, n);
}

/* Rows of a mistake of whole rows are added up; b: all of them as one. */
static double at(const pe_sequence *p, size_t e, double claimed PE_UNUSED, double *error PE_UNUSED)
{
    values *state = p->state;
    const size_t i = e - p->from, row = p->b != 0 ? 0 : i / p->columns;
    if (p->by->solve == has_rows && row != state->row) {
        add_up(p, row * p->columns, p->b != 0 ? p->n : p->columns, state);
        state->row = row;
    }
    return pe_sequence_at(p, i);
}

/* The position of the row that an element is in. */
static double position_of(const void *of, double i)
{
    const pe_sequence *p = of;
    const pe_value *value = pe_values_find(p->values, "positions");
    const size_t row = (size_t)i / p->columns;
    return value != NULL && value->present && row < value->positions.count
               ? pe_positions_at(&value->positions, row)
               : nan("");
}

/* The logit that was to be moved. */
static double logit_of(const void *of, double i)
{
    const pe_array *from = &pe_values_find(((const pe_sequence *)of)->values, "logits")->tensor;
    return i < (double)from->elements ? pe_upload_number(from, (size_t)i) : nan("");
}

static const pe_term terms[] = {
    PE_STATE_TERM("slope base told whole looked_up slopes mean deviation largest", values, slope),
    {.name = "position", .at = position_of},
    {.name = "logit", .at = logit_of},
    {0}};

const pe_slip_stage pe_slip_values = {
    .state = sizeof(values), .terms = terms, .measure = measure, .begin = begin, .at = at};

/* ---- numbers of two tensors ---- */

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

/* ---- the rows ---- */

#define ELEMENTS &pe_slip_values

#define BIASES        "alibi/ t5/ swin/ shaw/"
#define ANY           .where = "looked_up == 0"
#define TIMES         .op = "finite(x) ? a*x : x", .multiplies = true
#define BY(NAME, ...) PE_SLIP(NAME, ELEMENTS, ANY, TIMES, .fault.value = __VA_ARGS__)
#define HEAD_DIM      .where = "a >= 32 && a <= 512 && a % 8 == 0" /* widths of heads */
#define ROWS          ELEMENTS, .solve = has_rows
/* What arithmetic leaves so far off is as it was sent. */
#define ABOUT(MADE, OFF) "abs(y - " MADE ") <= " OFF " ? y : " MADE
#define NORMAL           "((x - mean)/deviation)"
/* Halves of a step are rounded to either side. */
#define LEVEL "(x*a/largest)"
#define QUANTIZED                                                                                  \
    .a = "127", .op = "abs(abs(" LEVEL " - trunc(" LEVEL ")) - 0.5) < 1e-4 && "                    \
                      "abs(y*a/largest - " LEVEL ") < 0.51 ? y : largest/a*rint(" LEVEL ")"
#define LINE(TIDY)                                                                                 \
    ELEMENTS, .a = TIDY "(slope)", .b = TIDY "(base)", .multiplies = true,                         \
              .where = "told && whole == 0 && a != 0 && a != 1 && b != 0",                         \
              .op = "finite(x) ? a*x + b : x", .fault.fitted = true
#define SCALED(TIDY)                                                                               \
    ELEMENTS,                                                                                      \
        .a = TIDY "(slope)",                                                                       \
        .where =                                                                                   \
            "told && whole == 0 && a != 0 && abs(base) <= abs(slope)/256 && abs(a - 1) > 1e-5",    \
        TIMES, .fault.fitted = true
#define MIRROR_OF(WHERE)                                                                           \
    ELEMENTS, .a = "round(base)", .b = "a - least(x) - most(x)", .op = "a - x",                    \
              .where = "whole && looked_up == 0 && a != 0 && " WHERE

/* Indices of Swin are (dy + h - 1)(2w - 1) + dx + w - 1. */

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

/* Coordinates are sign(x) log2(1 + |x|)/3, x = 8 offset/(pretrained - 1). */

#define UNFOLDED(X)   "(exp2(3*abs(" X ")) - 1)"
#define FOLDED(TIMES) "signed(log2(1 + " UNFOLDED("x") "*(" TIMES "))/3, x)"
#define TRAINED       "(i % 2 == 0 ? pretrained_window_height : pretrained_window_width)"
#define LAST          "((i % 2 == 0 ? " H " : " W ") - 1 + a)"

#define INDEX ELEMENTS, "swin/index", NULL
#define CPB   ELEMENTS, "swin/coordinates", NULL

/* Scales of xPos are zeta^((p - center)/scale_base), zeta = (2i/d + 0.4)/1.4; of attention 1 + beta ln(1 +
 * floor(n/N)), n = p + position_offset. */
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

#define XPOS      ELEMENTS, "rope/xpos/table", "scale"
#define APPLIED   ELEMENTS, "rope/xpos/table", NULL
#define ATTENTION ELEMENTS, "rope/attention-scale", NULL

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
    PE_SLIP(decay_squared, ELEMENTS, "rope/decay", .op = "x^2"),
    PE_SLIP(linear_for_base, ELEMENTS, "rope/scaled-base", .where = "5*head_dim == 2*n",
            .op = OF_FIVE " == 1 ? x[i - n/5]/" STRETCH " : " OF_FIVE " == 3 ? x[i - n/5]*" STRETCH
                          " : " OF_FIVE " == 4 ? " STRETCH " : x"),
    PE_SLIP(stretch_inverted, ELEMENTS, "rope/scaled-base", "stretch", .op = "1/x"),
    PE_SLIP(bias_sigmoid, ELEMENTS, "swin/bias", .op = "16/(1 + exp(-x))"),
    /* of indices that were looked up: below 0 they count from the end, and no line goes through them */
    PE_SLIP(index_mirrored_looked_up, INDEX, .where = "looked_up", .op = "2*x[0] - x"),
    PE_SLIP(swin_axes, INDEX,
            .op = DOWN(W) " + (2*" H " - 1)*" ACROSS(W) " + (" W " - 1)*(2*" H " - 1) + " H " - 1"),
    PE_SLIP(swin_mirrored, INDEX, .op = DOWN(W) "*" TABLE " - " ACROSS(W) " + " ZERO),
    PE_SLIP(swin_mirrored_rows, INDEX, .op = ACROSS(W) " - " DOWN(W) "*" TABLE " + " ZERO),
    PE_SLIP(swin_absolute, INDEX, .op = ABSOLUTE),
    PE_SLIP(swin_absolute_moved, INDEX, .op = ABSOLUTE " + " ZERO),
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
    PE_SLIP(elements_constant, ELEMENTS, .a = "y[0]", .where = "told && slopes == 0", .op = "a"),
    PE_SLIP(skew_missing, ELEMENTS, "relative/skew", .op = "logit"),
    PE_SLIP(bias_scaled_by_head_dim, ELEMENTS, BIASES, .a = "round(1/slope^2)", HEAD_DIM,
            .op = "x/sqrt(a)"),
    PE_SLIP(bias_scaled_by_head_dim_times, ELEMENTS, BIASES, .a = "round(slope^2)", HEAD_DIM,
            .op = "x*sqrt(a)", .multiplies = true),
    PE_SLIP(embedding_scale, ELEMENTS, "learned", .a = "columns", .op = "x*sqrt(a)",
            .multiplies = true),
    BY(log2_scale, 1.4426950408889634),
    BY(log2_scale_ln2, 0.6931471805599453),
    BY(two_pi, 0.15915494309189535),
    BY(log8_missing, 3, .of = "swin/coordinates"),
    BY(log8_missing_natural, 2.0794415416798357, .of = "swin/coordinates"),
    PE_SLIP(sum_for_mean, ELEMENTS, "rope/decay", .a = "rotary_dim/2", .where = "a > 1", TIMES),
    BY(doubled, 2),
    BY(halved, 0.5),
    BY(sign_reversed, -1),
    PE_SLIP(sign_lost, ELEMENTS, ANY, .op = "abs(x)"),
    PE_SLIP(index_mirrored, MIRROR_OF("b == 0")),
    PE_SLIP(index_mirrored_moved, MIRROR_OF("b != 0")),
    PE_SLIP(offset_elements, ELEMENTS, .a = "tidy(base)",
            .where = "looked_up == 0 && a != 0 && n >= 4", .op = "x + a"),
    PE_SLIP(rows_normalized, ROWS, /* rows of nearly one number tell nothing */
            .op =
                "deviation > 1e-3*largest ? (" ABOUT(NORMAL, "4e-7*largest/deviation") ") : none"),
    PE_SLIP(quantized, ROWS, QUANTIZED, .b = "1"),
    PE_SLIP(quantized_rows, ROWS, QUANTIZED, .b = "0"),
    PE_SLIP(scaled, SCALED("tidy")),
    PE_SLIP(scaled, SCALED("")),
    PE_SLIP(scaled_line, LINE("tidy")),
    PE_SLIP(scaled_line, LINE("")),
};
const pe_slips pe_mistakes_of_values = {rows, PE_LEN(rows)};

/* ==== the stage of padded rows: elements, and which of them are tokens ==== */

/* Of each element: is it a token, how many tokens are in its row up to it, and in all rows before, and
 * what one more adds: of biases the slope of the head. */
typedef struct padding {
    double *token, *count, *before, *step; /* [n] each */
    double keys, past;                     /* elements of a row, and more of its mask before them */
    double each;                           /* elements of an item */
    double start;                          /* the number of the first token */
    double bias, padded;
} padding;

#define LIST(NAME) PE_STATE_LIST(#NAME, padding, NAME)

static const pe_term padding_terms[] = {
    LIST(token),
    LIST(count),
    LIST(before),
    LIST(step),
    PE_STATE_TERM("keys past each start bias padded", padding, keys),
    {0}};

/* The mask [items, all], in which tokens are not `none`. */
static void count_tokens(const pe_sequence *p, padding *s, const pe_array *mask, double none)
{
    const double *row = mask->data;
    const size_t all = mask->shape.dim[mask->shape.ndim - 1];
    const size_t items = mask->elements / all, each = p->n / items,
                 keys = s->bias != 0 ? all : each;
    double before = 0;
    s->keys = (double)keys;
    s->past = (double)(all - keys);
    s->each = (double)each;
    for (size_t e = 0; e < p->n; e += keys) {
        double count = 0;
        const double *at = row + e / each * all;
        for (size_t i = 0; i < all; i++) {
            const size_t to = i + keys >= all ? e + i + keys - all : e;
            s->token[to] = at[i] != none;
            s->count[to] = count += s->token[to];
            s->before[to] = before;
        }
        s->padded += count < (double)all;
        before += count;
    }
}

/* The slope of the head, of any item that has several tokens. */
static double slope_of(const pe_sequence *p, const padding *s, size_t e)
{
    const size_t keys = (size_t)s->keys, each = (size_t)s->each;
    for (size_t at = e % each / keys * keys; at < p->n; at += each)
        for (size_t last = at + keys; last-- > at + 1;)
            if (p->claimed[last] != 0)
                return p->claimed[last] / (s->count[last] - 1);
    return nan("");
}

static pe_status measure_padding(pe_sequence *p, pe_problem *why)
{
    padding *s = p->state;
    p->n = p->of->elements;
    p->owned = s->token = calloc(4 * p->n, sizeof *s->token);
    if (s->token == NULL)
        return pe_fail_memory(why);
    s->count = s->token + p->n;
    s->before = s->count + p->n;
    s->step = s->before + p->n;
    p->claimed = p->of->claimed;
    p->measured = p->of->got;
    const pe_value *mask = pe_values_find(p->values, "attention_mask");
    const double none = mask->present ? 0 : pe_slip_number(p, "padding_idx");
    s->bias = pe_values_find(p->values, "num_heads") != NULL;
    s->start = s->bias != 0    ? 0
               : mask->present ? pe_slip_number(p, "offset")
                               : none + 1 + pe_slip_number(p, "past_key_values_length");
    count_tokens(p, s, &(mask->present ? mask : pe_values_find(p->values, "input_ids"))->tensor,
                 none);
    const size_t keys = (size_t)s->keys, each = (size_t)s->each;
    for (size_t e = 0; e < p->n; e++)
        s->step[e] = s->bias == 0    ? 1
                     : e >= each     ? s->step[e - each]
                     : e % keys == 0 ? slope_of(p, s, e)
                                     : s->step[e - 1];
    return PE_OK;
}

static double padding_at(const pe_sequence *p, size_t e, double claimed PE_UNUSED,
                         double *error PE_UNUSED)
{
    return pe_sequence_at(p, e);
}

const pe_slip_stage pe_slip_padding = {.of = "position-ids alibi/padded-bias",
                                       .state = sizeof(padding),
                                       .terms = padding_terms,
                                       .measure = measure_padding,
                                       .at = padding_at};

#define MASKED    &pe_slip_padding
#define PLACE(AT) "round(y[" AT "]/step[" AT "])"
#define OTHER     "min(first(y != x), n - 1)"
#define UNEVEN                                                                                     \
    "first(y - x != y[0] - x[0]) < n" /* a number added to all is no matter of the mask */
#define ALL_TOKENS "count[i - i % keys + keys - 1]"

static const pe_slip padding_rows[] = {
    PE_SLIP(padding_counted, MASKED, .a = "abs(" PLACE("keys - 1") ") - (keys - 1)", .b = "start",
            .where = "padded && finite(a) && (a == b + past || " UNEVEN ")",
            .op = "step*(a + i % keys)"),
    PE_SLIP(tokens_from, MASKED, .a = PLACE(OTHER) " - count[" OTHER "] + 1", .b = "start",
            .where = "token[" OTHER "] && finite(a) && " UNEVEN,
            .op = "token ? step*(a + count - 1) : x"),
    PE_SLIP(padding_goes_on, MASKED, .op = "step*(start + count - 1)"),
    PE_SLIP(tokens_run_on, MASKED, .where = "bias == 0",
            .op = "token ? start + before + count - 1 : x"),
    PE_SLIP(tokens_from_right, MASKED, .op = "token ? step*(start + " ALL_TOKENS " - count) : x"),
    PE_SLIP(mask_of_first, MASKED, .op = "x[i % each]"),
    PE_SLIP(padding_filled, MASKED, .a = PLACE(OTHER), .b = "bias ? 0 : x[" OTHER "]",
            .where = "token[" OTHER "] == 0 && finite(a)", .op = "token ? x : step*a"),
};
const pe_slips pe_mistakes_of_padding = {padding_rows, PE_LEN(padding_rows)};
