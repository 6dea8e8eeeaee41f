/* SPDX-License-Identifier: MIT */
/* sinusoidal_relative.c - sines and cosines of distances, for attention with relative positions. */
#include <stdlib.h>

#include "encodings/registry.h"
#include "encodings/relative/relative.h"
#include "encodings/sinusoidal/sinusoidal.h"

#define LENGTH_MAX 1073741823 /* so that two of them are an int32 */

enum { XLNET, TRANSFORMER_XL, CONFORMER };
enum { BI, UNI };

static const char *const variants[] = {
    [XLNET] = "xlnet", [TRANSFORMER_XL] = "transformer_xl", [CONFORMER] = "conformer", NULL};
static const char *const directions[] = {[BI] = "bi", [UNI] = "uni", NULL};

static const pe_param own[] = {
    {.name = "d_model",
     .kind = PE_KIND_INT,
     .required = true,
     .min = 2,
     .max = PE_SINUSOIDAL_WIDTH_MAX,
     .plan_work = PE_PLAN_WORK_PRODUCT,
     .unit = "channels",
     .help = "Width of a row, even.",
     .example = "64"},
    {.name = "query_length",
     .kind = PE_KIND_INT,
     .required = true,
     .min = 1,
     .max = LENGTH_MAX,
     .unit = "tokens",
     .help = "Queries: the last so many of the key positions.",
     .example = "4"},
    {.name = "key_length",
     .kind = PE_KIND_INT,
     .optional = true,
     .min = 1,
     .max = LENGTH_MAX,
     .fallback_text = "query_length",
     .unit = "tokens",
     .help = "Keys, those of the memory included; at least as many as queries.",
     .example = "6"},
    {.name = "variant",
     .kind = PE_KIND_CHOICE,
     .choices = variants,
     .help = "Distances, and where the sines are: xlnet: key_length down to 1 - query_length "
             "(attn_type=uni: to 0), sines first; transformer_xl: key_length - 1 down to 0, sines "
             "first; conformer: key_length - 1 down to 1 - query_length, interleaved.",
     .example = "xlnet"},
    {.name = "attn_type",
     .kind = PE_KIND_CHOICE,
     .choices = directions,
     .help = "Of variant=xlnet alone: bi: keys after a query have distances, too; uni: they have "
             "none.",
     .example = "bi"},
    {.name = "clamp_len",
     .kind = PE_KIND_INT,
     .min = -1,
     .max = LENGTH_MAX,
     .fallback = -1,
     .unit = "tokens",
     .help = "Farther distances count as this one; 0 and -1: no limit. Not of variant=conformer.",
     .example = "-1"},
};

/* Row r is at distance farthest - r, clamped: the first and the last of the rows within the clamp
 * are there many times. */
typedef struct state {
    pe_sinusoid sinusoid;
    pe_positions within; /* distances */
    size_t before;       /* rows that repeat the first of them */
} state;

static void free_state(void *of)
{
    state *s = of;
    pe_sinusoid_free(&s->sinusoid);
    free(s);
}

/* ---- which distances ---- */

static pe_status refuse_given(const pe_values *values, const char *name, const char *variant,
                              pe_problem *why)
{
    if (!pe_values_given(values, name))
        return PE_OK;
    return pe_fail(why, PE_INVALID_PARAMETER, name, "variant=%s has no %s", variant, name);
}

/* What a variant does not read is no part of the canonical form. */
static pe_status drop_unread(pe_values *values, size_t variant, pe_problem *why)
{
    pe_value *clamp = pe_values_find(values, "clamp_len");
    pe_status status = PE_OK;
    if (variant != XLNET)
        status = refuse_given(values, "attn_type", variants[variant], why);
    if (status == PE_OK && variant == CONFORMER)
        status = refuse_given(values, "clamp_len", variants[variant], why);
    pe_values_find(values, "attn_type")->present = variant == XLNET;
    clamp->present = variant != CONFORMER;
    if (clamp->integer == 0)
        clamp->integer = -1;
    return status;
}

/* From the first distance down to the last. */
typedef struct span {
    int64_t farthest, nearest;
} span;

static span span_of(const pe_values *values, size_t variant)
{
    const int64_t keys = pe_values_int(values, "key_length");
    const int64_t after = 1 - pe_values_int(values, "query_length");
    const bool uni = variant == XLNET && pe_values_choice(values, "attn_type") == UNI;
    return variant == XLNET ? (span){keys, uni ? 0 : after}
                            : (span){keys - 1, variant == CONFORMER ? after : 0};
}

/* The span holds 0 or 1, so something of it is always within. */
static void clamp_span(const pe_values *values, span whole, state *s)
{
    const pe_value *clamp = pe_values_find(values, "clamp_len");
    const bool clamped = clamp->present && clamp->integer > 0;
    const int64_t limit = clamped ? clamp->integer : LENGTH_MAX;
    const int64_t first = whole.farthest < limit ? whole.farthest : limit;
    const int64_t last = whole.nearest > -limit ? whole.nearest : -limit;
    s->within = pe_positions_range(first, -1, (size_t)(first - last + 1));
    s->before = (size_t)(whole.farthest - first);
}

/* ---- rows ---- */

static pe_status put(const state *s, pe_dtype dtype, size_t first, size_t rows, void *out,
                     pe_problem *why)
{
    int32_t *distance = out;
    if (dtype != PE_INT32)
        return pe_sinusoid_rows(&s->sinusoid, &s->within, first, rows, dtype, out, why);
    for (size_t r = 0; r < rows; r++)
        distance[r] = (int32_t)pe_positions_at(&s->within, first + r);
    return PE_OK;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static pe_status fill_part(const pe_plan *plan, size_t t, size_t unit, size_t first, size_t n,
                           void *out, pe_problem *why)
{
    const state *s = plan->state;
    const size_t row = unit < s->before ? 0 : smaller(unit - s->before, s->within.count - 1);
    return pe_sinusoid_part(&s->sinusoid, &s->within, row, first, n, plan->tensors[t].dtype, out,
                            why);
}

static pe_status fill(const pe_plan *plan, size_t t, size_t first, size_t units, void *out,
                      pe_problem *why)
{
    const state *s = plan->state;
    const pe_tensor *tensor = &plan->tensors[t];
    const size_t bytes = tensor->unit * pe_dtype_bytes(tensor->dtype);
    const size_t after = s->before + s->within.count; /* the first row that repeats the last */
    pe_status status = PE_OK;
    unsigned char *to = out;
    for (size_t some; status == PE_OK && units > 0; first += some, units -= some) {
        const bool within = first >= s->before && first < after;
        const size_t row = first < s->before ? 0 : within ? first - s->before : s->within.count - 1;
        some = smaller(units, first < s->before ? s->before - first
                              : within          ? after - first
                                                : units);
        status = put(s, tensor->dtype, row, within ? some : 1, to, why);
        if (!within)
            pe_relative_repeat(to, bytes, some - 1, to + bytes);
        to += some * bytes;
    }
    return status;
}

/* ---- the plan ---- */

static pe_status add_tensors(const pe_values *values, span whole, const pe_limits *limits,
                             pe_plan *out, pe_problem *why)
{
    const size_t width = (size_t)pe_values_int(values, "d_model");
    const size_t rows = (size_t)(whole.farthest - whole.nearest + 1);
    const pe_shape line = {1, {rows}}, table = {2, {rows, width}};
    const pe_status status = pe_plan_add_tensor(out, limits, "distances", PE_INT32, &line, 1, why);
    if (status != PE_OK)
        return status;
    return pe_plan_add_tensor(out, limits, "table", (pe_dtype)pe_values_choice(values, "dtype"),
                              &table, width, why);
}

static pe_status check(pe_values *values, pe_problem *why)
{
    const int64_t width = pe_values_int(values, "d_model");
    if (width % 2 != 0)
        return pe_fail(why, PE_INVALID_PARAMETER, "d_model", "d_model must be even, got %lld",
                       (long long)width);
    const pe_status status =
        pe_relative_lengths(values, pe_values_int(values, "query_length"), "query_length", why);
    return status == PE_OK ? drop_unread(values, pe_values_choice(values, "variant"), why) : status;
}

static pe_status plan_relative(pe_values *values, struct pe_tables *tables, const pe_limits *limits,
                               pe_plan *out, pe_problem *why)
{
    pe_status status = check(values, why);
    if (status != PE_OK)
        return status;
    const size_t variant = pe_values_choice(values, "variant");
    const span whole = span_of(values, variant);
    status = add_tensors(values, whole, limits, out, why);
    if (status != PE_OK)
        return status;
    const pe_sinusoid_spec spec = {.width = (size_t)pe_values_int(values, "d_model"),
                                   .layout = variant == CONFORMER ? PE_SINUSOIDAL_INTERLEAVED
                                                                  : PE_SINUSOIDAL_SIN_COS,
                                   .base = {pe_values_real(values, "base"), 1},
                                   .scale = 1,
                                   .divisor = {1, 1}};
    state *s = calloc(1, sizeof *s);
    if (s == NULL)
        return pe_fail_memory(why);
    out->state = s;
    out->free_state = free_state;
    out->fill = fill;
    out->fill_part = fill_part;
    clamp_span(values, whole, s);
    return pe_sinusoid_make(&spec, tables, &s->sinusoid, why);
}

/**
 * The encodings of the distances that attention meets, from the farthest key before a query to the
 * farthest after.
 *
 * Source    Dai et al. 2019, arXiv:1901.02860, appendix B; Yang et al. 2019, arXiv:1906.08237.
 *           huggingface/transformers@b4b5244c9c7cdb80d0aaafdb8f35244612788532:
 *           XLNetModel.relative_positional_encoding (bi_data=False),
 *           Wav2Vec2ConformerRelPositionalEmbedding; kimiyoung/transformer-xl, MemTransformerLM.
 * Shapes    distances [n] int32, table [n, d_model]; n: key_length + query_length (xlnet bi),
 *           key_length + 1 (xlnet uni), key_length (transformer_xl), key_length + query_length - 1
 *           (conformer).
 * Units     distance = position of the query - position of the key, in tokens.
 * Accuracy  correctly rounded.
 * Errors    INVALID_PARAMETER: odd d_model, more queries than keys, what a variant does not read.
 */
const pe_resource pe_sinusoidal_relative = {
    .path = "/v1/sinusoidal/relative",
    .encoding = "sinusoidal",
    .name = "sinusoidal/relative",
    .kind = PE_TABLE,
    .summary = "Sinusoidal encodings of distances between queries and keys, the farthest first.",
    .formula = "sin(D w_i) and cos(D w_i), w_i = base^(-2i/d_model), D from key_length (xlnet) or "
               "key_length - 1 down to 1 - query_length (xlnet bi, conformer) or 0",
    .source = "Dai et al. 2019, arXiv:1901.02860; Yang et al. 2019, arXiv:1906.08237; "
              "huggingface/transformers@b4b5244c9c7cdb80d0aaafdb8f35244612788532",
    .param_sets = {PE_PARAMS(own), &pe_sinusoidal_base_params, &pe_params_output_exact},
    .plan = plan_relative,
};
