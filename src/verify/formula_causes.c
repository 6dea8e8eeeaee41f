/* SPDX-License-Identifier: MIT */
/* formula_causes.c - numbers of a formula with a mistake in it, resource by resource. */
#include "verify/formula_causes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verify/scale_causes.h"

struct formula;

/* One mistake: {a} is what it reads off the upload, {b} what the claim has in its place. */
typedef struct row {
    const char *resource;
    const char *tensor; /* that has it; elements of others are as claimed. NULL: all */
    pe_fault fault;
    /** NAN: it is none such. NULL: it reads nothing. */
    double (*read)(const struct formula *f, double *b);
    double (*at)(const struct formula *f, size_t element, double claimed);
} row;

/* The tensor that has the mistake. */
typedef struct formula {
    const pe_numbers *of;
    const row *by;
    size_t first, end; /* its elements, of all */
    size_t columns;    /* along its last axis */
    double a;
} formula;

/* ---- what several rows read ---- */

static const pe_values *values_of(const formula *f)
{
    return &f->of->claim->values;
}

/* NAN: the claim has no such number, and no row that needs it holds. */
static double number_of(const formula *f, const char *name)
{
    const pe_value *value = pe_values_find(values_of(f), name);
    if (value == NULL || !value->present)
        return nan("");
    return value->param->kind == PE_KIND_INT ? (double)value->integer : value->real;
}

static double claimed_at(const formula *f, size_t e)
{
    return f->of->claimed[f->first + e];
}

static double got_at(const formula *f, size_t e)
{
    return f->of->got[f->first + e];
}

static double entry_of(const formula *f, const char *name, size_t i)
{
    const pe_value *value = pe_values_find(values_of(f), name);
    return value != NULL && value->present && i < value->positions.count
               ? pe_positions_at(&value->positions, i)
               : nan("");
}

static double position_at(const formula *f, size_t e)
{
    return entry_of(f, "positions", e / f->columns);
}

/* The element whose claim is farthest from x, where the number that is looked for tells most. */
static size_t farthest(const formula *f, double x)
{
    size_t best = 0;
    for (size_t e = 0; f->first + e < f->end; e++)
        if (fabs(claimed_at(f, e) - x) > fabs(claimed_at(f, best) - x))
            best = e;
    return best;
}

/* ---- scales of xPos: zeta^((p - center)/scale_base), zeta = (2i/d + 0.4)/1.4 ---- */

static double xpos_reciprocal(const formula *f, size_t e, double claimed)
{
    (void)f;
    (void)e;
    return 1 / claimed;
}

static double xpos_missing(const formula *f, size_t e, double claimed)
{
    (void)f;
    (void)e;
    (void)claimed;
    return 1;
}

static double xpos_read_base(const formula *f, double *b)
{
    const size_t e = farthest(f, 1);
    *b = number_of(f, "scale_base");
    const double a = round(*b * log(claimed_at(f, e)) / log(got_at(f, e)));
    return a > 0 && a != *b ? a : nan("");
}

static double xpos_base(const formula *f, size_t e, double claimed)
{
    (void)claimed; /* those of the finding's own scale_base */
    return pow(claimed_at(f, e), number_of(f, "scale_base") / f->a);
}

/* Of a cosine or sine; all tensors have as many elements. */
static double xpos_applied(const formula *f, size_t e, double claimed)
{
    const pe_upload_view *view = f->of->view;
    const size_t own = pe_upload_view_tensor(view, e);
    size_t u = 0;
    while (u < view->n_tensors && strcmp(view->claim->uploads[u].name, "scale") != 0)
        u++;
    const size_t at = u < view->n_tensors ? view->tensor_at[u] + e - view->tensor_at[own] : e;
    return u == own || u == view->n_tensors || at >= f->of->elements ? claimed
                                                                     : claimed * f->of->claimed[at];
}

static double xpos_zeta(const formula *f, size_t e, double gamma)
{
    return (2 * (double)(e % f->columns) / (2 * (double)f->columns) + gamma) / (1 + gamma);
}

static double xpos_exponent(const formula *f, size_t e)
{
    return (position_at(f, e) - number_of(f, "center")) / number_of(f, "scale_base");
}

static double xpos_read_center(const formula *f, double *b)
{
    *b = number_of(f, "center");
    const double turned = log(got_at(f, 0)) / log(xpos_zeta(f, 0, 0.4));
    const double a = round(position_at(f, 0) - turned * number_of(f, "scale_base"));
    return isfinite(a) && a != *b ? a : nan("");
}

static double xpos_center(const formula *f, size_t e, double claimed)
{
    (void)claimed;
    return pow(xpos_zeta(f, e, 0.4), (position_at(f, e) - f->a) / number_of(f, "scale_base"));
}

/* Of pair 0 zeta is gamma/(1 + gamma). */
static double xpos_read_gamma(const formula *f, double *b)
{
    const size_t e = farthest(f, 1) / f->columns * f->columns;
    const double zeta = pow(got_at(f, e), 1 / xpos_exponent(f, e));
    const double a = round(100 * zeta / (1 - zeta)) / 100;
    *b = 0.4;
    return a > 0 && isfinite(a) && a != 0.4 ? a : nan("");
}

static double xpos_gamma(const formula *f, size_t e, double claimed)
{
    (void)claimed;
    return pow(xpos_zeta(f, e, f->a), xpos_exponent(f, e));
}

static double xpos_later(const formula *f, size_t e, double claimed)
{
    (void)claimed;
    const double zeta = ((double)(e % f->columns + 1) / (double)f->columns + 0.4) / 1.4;
    return pow(zeta, xpos_exponent(f, e));
}

static double xpos_half(const formula *f, size_t e, double claimed)
{
    (void)claimed;
    const double zeta = ((double)(e % f->columns) / (2 * (double)f->columns) + 0.4) / 1.4;
    return pow(zeta, xpos_exponent(f, e));
}

static double xpos_reversed(const formula *f, size_t e, double claimed)
{
    (void)claimed;
    return pow(xpos_zeta(f, f->columns - 1 - e % f->columns, 0.4), xpos_exponent(f, e));
}

/* ---- the attention scale ---- */

static double scale_log2(const formula *f, size_t e, double claimed)
{
    (void)f;
    (void)e;
    return 1 + (claimed - 1) / log(2);
}

static double scale_log10(const formula *f, size_t e, double claimed)
{
    (void)f;
    (void)e;
    return 1 + (claimed - 1) / log(10);
}

static double scale_missing(const formula *f, size_t e, double claimed)
{
    (void)f;
    (void)e;
    (void)claimed;
    return 1;
}

static double scale_unfloored(const formula *f, size_t e, double claimed)
{
    (void)claimed;
    const double p = position_at(f, e) + number_of(f, "position_offset");
    return 1 + number_of(f, "beta") * log1p(p / number_of(f, "original_max_position_embeddings"));
}

/* Of qwen, whose scale is 1 where it would be less. */
static double scale_unlimited(const formula *f, size_t e, double claimed)
{
    (void)claimed;
    return log(position_at(f, e) + number_of(f, "position_offset")) /
           log(number_of(f, "original_max_position_embeddings"));
}

static double scale_squared(const formula *f, size_t e, double claimed)
{
    (void)f;
    (void)e;
    return claimed * claimed;
}

/* ---- the decay ---- */

/* The mean over the pairs of a wave, with exponents of 2i over d. */
static double mean_wave(const formula *f, size_t e, double (*wave)(double), double d)
{
    const double theta = number_of(f, "rope_theta");
    const double offset = entry_of(f, "offsets", e);
    const double pairs = floor(number_of(f, "rotary_dim") / 2);
    double sum = 0;
    for (size_t i = 0; (double)i < pairs; i++)
        sum += wave(offset * pow(theta, -2 * (double)i / d));
    return sum / pairs;
}

static double decay_sine(const formula *f, size_t e, double claimed)
{
    (void)claimed;
    return mean_wave(f, e, sin, number_of(f, "rotary_dim"));
}

static double decay_half(const formula *f, size_t e, double claimed)
{
    (void)claimed;
    return mean_wave(f, e, cos, 2 * number_of(f, "rotary_dim"));
}

/* Waves that are summed for one law at most: some tenths of a second. */
#define DECAY_WAVES 0x1p23

/* Of plain frequencies alone. */
static double decay_plain(const formula *f, double *b)
{
    (void)b;
    if ((double)(f->end - f->first) * number_of(f, "rotary_dim") > DECAY_WAVES)
        return nan("");
    const bool plain = strcmp(pe_geometry_choice_text(values_of(f), "rope_type"), "default") == 0;
    return plain ? 0 : nan("");
}

/* ---- windows of Swin ---- */

/* Of a window that is `width` wide. */
static double index_in(const formula *f, size_t e, double width, const double step[2], double zero)
{
    const size_t row_of = e / f->columns, column_of = e % f->columns;
    const double query = (double)row_of, key = (double)column_of;
    return (floor(query / width) - floor(key / width)) * step[0] +
           (fmod(query, width) - fmod(key, width)) * step[1] + zero;
}

static double index_of(const formula *f, size_t e, const double step[2], double zero)
{
    return index_in(f, e, number_of(f, "window_width"), step, zero);
}

static double index_exchanged(const formula *f, size_t e, double claimed)
{
    const double h = number_of(f, "window_height"), w = number_of(f, "window_width");
    (void)claimed;
    return index_of(f, e, (double[]){1, 2 * h - 1}, (w - 1) * (2 * h - 1) + h - 1);
}

/* Patches count down the columns. */
static double index_transposed(const formula *f, size_t e, double claimed)
{
    const double h = number_of(f, "window_height"), w = number_of(f, "window_width");
    (void)claimed;
    return index_in(f, e, h, (double[]){1, 2 * w - 1}, (h - 1) * (2 * w - 1) + w - 1);
}

/* The offset of columns, or of rows, has the other sign. */
static double index_mirrored(const formula *f, size_t e, double claimed)
{
    const double h = number_of(f, "window_height"), w = number_of(f, "window_width");
    (void)claimed;
    return index_of(f, e, (double[]){2 * w - 1, -1}, (h - 1) * (2 * w - 1) + w - 1);
}

static double index_upside_down(const formula *f, size_t e, double claimed)
{
    const double h = number_of(f, "window_height"), w = number_of(f, "window_width");
    (void)claimed;
    return index_of(f, e, (double[]){1 - 2 * w, 1}, (h - 1) * (2 * w - 1) + w - 1);
}

static double read_stride(const formula *f, double *b)
{
    const double w = number_of(f, "window_width");
    *b = 2 * w - 1;
    if (!(number_of(f, "window_height") >= 2) || !(w >= 1))
        return nan("");
    const double a = fabs(got_at(f, (size_t)w * f->columns) - got_at(f, 0)); /* of either sign */
    return a != *b ? a : nan("");
}

static double index_strided(const formula *f, size_t e, double claimed)
{
    const double h = number_of(f, "window_height"), w = number_of(f, "window_width");
    (void)claimed;
    return index_of(f, e, (double[]){f->a, 1}, (h - 1) * f->a + w - 1);
}

/* As many patches in rows of another width. */
static double read_width(const formula *f, double *b)
{
    const double n = (double)f->columns;
    *b = number_of(f, "window_width");
    for (size_t w = 2; w < f->columns; w++)
        if (f->columns % w == 0 && (double)w != *b &&
            got_at(f, 0) - got_at(f, w) == 2 * (double)w - 1 &&
            got_at(f, 0) == 2 * n - (double)w - n / (double)w)
            return (double)w;
    return nan("");
}

static double index_reshaped(const formula *f, size_t e, double claimed)
{
    const double zero = 2 * (double)f->columns - f->a - (double)f->columns / f->a;
    (void)claimed;
    return index_in(f, e, f->a, (double[]){2 * f->a - 1, 1}, zero);
}

/* A square window that the claimed one is a part of. */
static double read_larger(const formula *f, double *b)
{
    const double w = number_of(f, "window_width");
    const double a = (read_stride(f, b) + 1) / 2;
    *b = w;
    return a == floor(a) && a > w && got_at(f, 0) == (a - 1) * 2 * a ? a : nan("");
}

static double index_in_larger(const formula *f, size_t e, double claimed)
{
    (void)claimed;
    return index_of(f, e, (double[]){2 * f->a - 1, 1}, (f->a - 1) * 2 * f->a);
}

static double coordinates_exchanged(const formula *f, size_t e, double claimed)
{
    (void)claimed;
    return claimed_at(f, e ^ 1);
}

static double coordinates_absolute(const formula *f, size_t e, double claimed)
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

static double read_times(const formula *f, double *b)
{
    *b = 8;
    const double a = round(8 * unfold(got_at(f, 0)) / unfold(claimed_at(f, 0)));
    return a > 0 && a != 8 ? a : nan("");
}

static double coordinates_scaled(const formula *f, size_t e, double claimed)
{
    (void)e;
    return copysign(log2(1 + unfold(claimed) * f->a / 8) / 3, claimed);
}

/* The offset that became 8 was the window's own. */
static double coordinates_own(const formula *f, size_t e, double claimed)
{
    static const char *const own[] = {"window_height", "window_width"};
    static const char *const trained[] = {"pretrained_window_height", "pretrained_window_width"};
    const double last = number_of(f, own[e % 2]) - 1, most = number_of(f, trained[e % 2]) - 1;
    return last > 0 ? copysign(log2(1 + unfold(claimed) * most / last) / 3, claimed) : claimed;
}

/* Offsets over the pretrained window, not over that less 1. */
static double coordinates_whole(const formula *f, size_t e, double claimed)
{
    const double most =
        number_of(f, e % 2 == 0 ? "pretrained_window_height" : "pretrained_window_width");
    return copysign(log2(1 + unfold(claimed) * (most - 1) / most) / 3, claimed);
}

static double read_trained(const formula *f, double *b)
{
    *b = number_of(f, "pretrained_window_height");
    const double a = 1 + round((*b - 1) * unfold(claimed_at(f, 0)) / unfold(got_at(f, 0)));
    return a > 1 && a != *b ? a : nan("");
}

static double coordinates_trained(const formula *f, size_t e, double claimed)
{
    const double most =
        number_of(f, e % 2 == 0 ? "pretrained_window_height" : "pretrained_window_width");
    return copysign(log2(1 + unfold(claimed) * (most - 1) / (f->a - 1)) / 3, claimed);
}

static double read_linear(const formula *f, double *b)
{
    (void)b;
    return fabs(got_at(f, 0)) / unfold(claimed_at(f, 0));
}

static double coordinates_linear(const formula *f, size_t e, double claimed)
{
    (void)e;
    return copysign(unfold(claimed) * f->a, claimed);
}

/* ---- tokens and padding: position ids, and biases of padded keys ---- */

/* Looks at the mask for one law at most: some tenths of a second. */
#define MASK_LOOKS 0x1p24

/* Keys of an item, or tokens; of a mask [n] all elements. */
static size_t keys_of(const formula *f)
{
    return f->of->view->claim->uploads[0].array.shape.ndim > 1 ? f->columns : f->end - f->first;
}

/* The mask [items, *n]: tokens are not `none`. It has those before the first key, too. */
static const pe_array *find_mask(const formula *f, size_t *n, double *none)
{
    const pe_value *mask = pe_values_find(values_of(f), "attention_mask");
    *none = mask->present ? 0 : number_of(f, "padding_idx");
    mask = mask->present ? mask : pe_values_find(values_of(f), "input_ids");
    *n = mask->tensor.shape.dim[mask->tensor.shape.ndim - 1];
    return &mask->tensor;
}

/* The tokens of the row up to this element; *token: it is one itself. */
static double count_at(const formula *f, size_t e, bool *token)
{
    size_t n;
    double none, count = 0;
    const pe_array *mask = find_mask(f, &n, &none);
    const size_t item = e / ((f->end - f->first) / (mask->elements / n)), keys = keys_of(f);
    const double *at = (const double *)mask->data + item * n;
    for (size_t i = 0; i <= e % keys + n - keys; i++) {
        *token = at[i] != none;
        count += *token;
    }
    return count;
}

static bool is_bias(const formula *f)
{
    return pe_values_find(values_of(f), "num_heads") != NULL;
}

/* The number of the first token. */
static double first_number(const formula *f)
{
    return is_bias(f) ? 0
           : pe_values_present(values_of(f), "attention_mask")
               ? number_of(f, "offset")
               : number_of(f, "padding_idx") + 1 + number_of(f, "past_key_values_length");
}

/* What a token more adds: the slope of the head, of any item that has several tokens. */
static double step_at(const formula *f, size_t e)
{
    size_t n;
    double none;
    bool token;
    const pe_array *mask = find_mask(f, &n, &none);
    const size_t keys = keys_of(f), items = mask->elements / n;
    const size_t each = (f->end - f->first) / items;
    for (size_t i = 0; i < items && is_bias(f); i++)
        for (size_t last = keys, at = i * each + e % each / keys * keys; last-- > 1;)
            if (claimed_at(f, at + last) != 0)
                return claimed_at(f, at + last) / (count_at(f, at + last, &token) - 1);
    return is_bias(f) ? nan("") : 1;
}

static double place_read(const formula *f, size_t e)
{
    return (double)(f->end - f->first) * (double)keys_of(f) <= MASK_LOOKS
               ? round(got_at(f, e) / step_at(f, e))
               : nan("");
}

static bool has_padding(const formula *f, size_t *before)
{
    size_t n, e = 0;
    double none;
    const pe_array *mask = find_mask(f, &n, &none);
    *before = n - keys_of(f);
    while (e < mask->elements && ((const double *)mask->data)[e] != none)
        e++;
    return e < mask->elements;
}

/* The same number was added to all: that alone is no matter of the mask. */
static bool is_moved(const formula *f)
{
    size_t e = 1;
    while (f->first + e < f->end &&
           got_at(f, e) - claimed_at(f, e) == got_at(f, 0) - claimed_at(f, 0))
        e++;
    return f->first + e >= f->end;
}

static double read_all_counted(const formula *f, double *b)
{
    size_t before;
    const double a = place_read(f, keys_of(f) - 1) - (double)(keys_of(f) - 1);
    *b = first_number(f);
    const bool told = has_padding(f, &before) && (a == *b + (double)before || !is_moved(f));
    return told ? a : nan("");
}

static double all_counted(const formula *f, size_t e, double claimed)
{
    (void)claimed;
    return step_at(f, e) * (f->a + (double)(e % keys_of(f)));
}

/* The first element that differs, and whether it is a token. */
static size_t find_other(const formula *f, double *count, bool *token)
{
    size_t e = 0;
    while (f->first + e + 1 < f->end && got_at(f, e) == claimed_at(f, e))
        e++;
    *count = count_at(f, e, token);
    return e;
}

static double read_tokens_from(const formula *f, double *b)
{
    bool token;
    double count;
    const size_t e = find_other(f, &count, &token);
    *b = first_number(f);
    return token && !is_moved(f) ? place_read(f, e) - count + 1 : nan("");
}

static double tokens_from(const formula *f, size_t e, double claimed)
{
    bool token;
    const double count = count_at(f, e, &token);
    return token ? step_at(f, e) * (f->a + count - 1) : claimed;
}

static double padding_counted(const formula *f, size_t e, double claimed)
{
    bool token;
    const double count = count_at(f, e, &token);
    return token ? claimed : step_at(f, e) * (first_number(f) + count - 1);
}

static double read_padding(const formula *f, double *b)
{
    bool token;
    double count;
    const size_t e = find_other(f, &count, &token);
    *b = claimed_at(f, e);
    return token ? nan("") : got_at(f, e);
}

static double padding_is(const formula *f, size_t e, double claimed)
{
    bool token;
    (void)count_at(f, e, &token);
    return token ? claimed : f->a;
}

/* ---- the rows ---- */

#define XPOS      "rope/xpos/table", "scale"
#define ATTENTION "rope/attention-scale", NULL
#define DECAY     "rope/decay", NULL
#define INDEX     "swin/index", NULL
#define CPB       "swin/coordinates", NULL
#define MASKED    "position-ids", NULL /* and alibi/padded-bias */
#define ZETA      "take zeta of pair i as (2i/d + 0.4)/1.4"

static const row rows[] = {
    {XPOS,
     {"xpos_reciprocal",
      "scales are the reciprocal ones: those of keys for queries, or the inverse",
      .remedy = "multiply queries by the scale, divide keys by it"},
     NULL,
     xpos_reciprocal},
    {XPOS,
     {"xpos_missing", "the scale is missing: it is 1 everywhere, as without xPos",
      .remedy = "apply the scales of xPos"},
     NULL,
     xpos_missing},
    {XPOS,
     {"xpos_center", "the center of the scales was position {a}, not {b}",
      .remedy = "count positions of the scale from the center"},
     xpos_read_center,
     xpos_center},
    {XPOS,
     {"xpos_scale_base", "scale_base was {a}, not {b}", .param = "scale_base",
      .remedy = "set scale_base as claimed"},
     xpos_read_base,
     xpos_base},
    {XPOS,
     {"xpos_gamma", "gamma of zeta, (2i/d + gamma)/(1 + gamma), was {a}, not {b}", .remedy = ZETA},
     xpos_read_gamma,
     xpos_gamma},
    {XPOS,
     {"xpos_index", "the index of zeta is one later: pair i has the scale of pair i + 1",
      .remedy = ZETA},
     NULL,
     xpos_later},
    {XPOS,
     {"xpos_exponent", "zeta was made of i/d, half of 2i/d", .remedy = ZETA},
     NULL,
     xpos_half},
    {XPOS,
     {"xpos_reversed", "scales of the pairs are in reverse order: zeta grows from the last pair on",
      .remedy = ZETA},
     NULL,
     xpos_reversed},
    {"rope/xpos/table",
     NULL,
     {"xpos_applied", "cosines and sines were multiplied by the scale: it was applied twice",
      .remedy = "keep the scale apart, or apply it once"},
     NULL,
     xpos_applied},
    {ATTENTION,
     {"scale_missing", "every scale is 1: what is claimed was not applied",
      .remedy = "multiply queries by the scale of their position"},
     NULL,
     scale_missing},
    {ATTENTION,
     {"scale_log2", "the logarithm of base 2 was taken, not the natural one: log2 for log",
      .remedy = "take the natural logarithm"},
     NULL,
     scale_log2},
    {ATTENTION,
     {"scale_log10", "the logarithm of base 10 was taken, not the natural one: log10 for log",
      .remedy = "take the natural logarithm"},
     NULL,
     scale_log10},
    {ATTENTION,
     {"scale_unfloored", "positions over the original length were not rounded down: no floor",
      .remedy = "take floor(position / original_max_position_embeddings)"},
     NULL,
     scale_unfloored},
    {ATTENTION,
     {"scale_unlimited",
      "scales below 1 were kept: max(1, log(n)/log(N)) was not taken of the first positions",
      .remedy = "take max(1, log(n)/log(N))"},
     NULL,
     scale_unlimited},
    {ATTENTION,
     {"scale_squared", "scales are squared: queries were multiplied twice, or keys, too",
      .remedy = "multiply queries alone, once"},
     NULL,
     scale_squared},
    {ATTENTION,
     {"scale_reciprocal", "scales are the reciprocal ones: queries were divided by the scale",
      .remedy = "multiply queries by the scale"},
     NULL,
     xpos_reciprocal},
    {DECAY,
     {"decay_sine", "sines stand where cosines belong: they were exchanged",
      .remedy = "take the mean of cosines"},
     decay_plain,
     decay_sine},
    {DECAY,
     {"exponents_halved",
      "exponents of the frequencies were halved, as if divided by twice the "
      "dimension",
      .remedy = "divide 2i by rotary_dim"},
     decay_plain,
     decay_half},
    {MASKED,
     {"padding_counted",
      "padding was counted, too: the attention mask was ignored; the first place has {a} for "
      "an offset, the first token of the claim {b}",
      .remedy = "count the tokens alone: cumsum(mask)"},
     read_all_counted,
     all_counted},
    {MASKED,
     {"tokens_from", "tokens count from {a}, not from {b}: an offset that padding has not",
      .remedy = "count from the claimed number on: cumsum(mask) - 1"},
     read_tokens_from,
     tokens_from},
    {MASKED,
     {"padding_goes_on",
      "padding goes on with the token before it: the count was not multiplied by the mask",
      .remedy = "multiply by the mask, so that padding has its own number"},
     NULL,
     padding_counted},
    {MASKED,
     {"padding_filled", "padding has {a}, not {b}: it was filled with another number",
      .remedy = "give padding the claimed number"},
     read_padding,
     padding_is},
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
     {"window_not_less_one",
      "offsets were divided by the window, not by the window - 1: off by one",
      .remedy = "divide offsets by pretrained_window_size - 1"},
     NULL,
     coordinates_whole},
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
};

/* ---- explaining ---- */

static double at_law(const void *context, size_t e, double claimed, double *error)
{
    const formula *f = context;
    (void)error;
    return e >= f->first && e < f->end ? f->by->at(f, e - f->first, claimed) : claimed;
}

static bool follows(const formula *f)
{
    const pe_numbers *of = f->of;
    size_t e = f->first;
    bool same = true;
    for (; e < f->end && same; e++) {
        const double x = f->by->at(f, e - f->first, of->claimed[e]);
        same = fabs(of->got[e] - x) <= (4 * of->roundoff + 0x1p-16) * fmax(fabs(x), 0x1p-8);
    }
    pe_numbers_spend(of, e - f->first);
    return same;
}

/* The tensor of a row. False: the resource is another, or the tensor is not in the upload. */
static bool find_tensor(const pe_numbers *plain, const row *by, formula *out)
{
    const pe_upload_view *view = plain->view;
    *out = (formula){.of = plain, .by = by};
    const char *name = view->claim->resource->name;
    name = strcmp(name, "alibi/padded-bias") == 0 ? "position-ids" : name;
    if (strcmp(by->resource, name) != 0)
        return false;
    size_t u = 0;
    while (by->tensor != NULL && u < view->n_tensors &&
           strcmp(by->tensor, view->claim->uploads[u].name) != 0)
        u++;
    if (u == view->n_tensors)
        return false;
    const pe_shape *shape = &view->claim->uploads[u].array.shape;
    out->first = view->tensor_at[u];
    out->end = view->tensor_at[by->tensor != NULL ? u + 1 : view->n_tensors];
    out->columns = shape->ndim > 1 ? shape->dim[shape->ndim - 1] : 1;
    return out->end > out->first;
}

/* The row alone; or what is behind it, where its number can be read. */
static pe_status try_row(const pe_numbers *plain, const row *by,
                         pe_status (*behind)(const formula *, const pe_numbers_cause *,
                                             pe_problem *),
                         pe_problem *why)
{
    formula f;
    pe_numbers_cause cause = {.fault = &by->fault};
    if (!pe_numbers_goes_on(plain) || !find_tensor(plain, by, &f))
        return PE_OK;
    cause.a = f.a = by->read != NULL ? by->read(&f, &cause.b) : 0;
    if (!isfinite(f.a))
        return PE_OK;
    if (behind != NULL)
        return behind(&f, &cause, why);
    return follows(&f) ? pe_numbers_try(plain, &cause, 1, &(pe_numbers_law){at_law, &f, 1}, why)
                       : PE_OK;
}

/* Rows once more, and lines through the numbers, behind a row that explains nothing alone. */
static pe_status find_behind(const formula *first, const pe_numbers_cause *cause, pe_problem *why)
{
    pe_numbers plain = *first->of;
    double *made = malloc(plain.elements * sizeof *made);
    if (made == NULL)
        return pe_fail_memory(why);
    for (size_t e = 0; e < plain.elements; e++)
        made[e] = at_law(first, e, first->of->claimed[e], NULL);
    pe_numbers_spend(&plain, plain.elements);
    plain.claimed = made;
    plain.before = cause;
    pe_status status = pe_scale_causes_find(&plain, why);
    for (size_t r = 0; r < PE_LEN(rows) && status == PE_OK; r++)
        if (&rows[r] != first->by && !pe_attempts_found(plain.search))
            status = try_row(&plain, &rows[r], NULL, why);
    free(made);
    return status;
}

pe_status pe_formula_causes_find(const pe_numbers *plain, pe_problem *why)
{
    pe_status status = PE_OK;
    for (size_t r = 0; r < PE_LEN(rows) && status == PE_OK; r++)
        status = try_row(plain, &rows[r], NULL, why);
    return status;
}

pe_status pe_formula_causes_find_two(const pe_numbers *plain, pe_problem *why)
{
    pe_status status = PE_OK;
    for (size_t r = 0; r < PE_LEN(rows) && status == PE_OK; r++)
        if (!pe_attempts_found(plain->search))
            status = try_row(plain, &rows[r], find_behind, why);
    return status;
}
