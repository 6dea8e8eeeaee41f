/* SPDX-License-Identifier: MIT */
/* sinusoidal_relative.c - sines and cosines of distances, for attention with relative positions. */
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
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
    PE_PARAM("d_model", INT, .required = true, .min = 2, .max = PE_SINUSOIDAL_WIDTH_MAX,
             .plan_work = PE_PLAN_WORK_PRODUCT, .unit = "channels", .help = "Width of a row, even.",
             .example = "64"),
    PE_PARAM("query_length", INT, .axis = true, .required = true, .min = 1, .max = LENGTH_MAX,
             .unit = "tokens", .help = "The number of queries. They are at the last key positions.",
             .example = "4"),
    PE_PARAM("key_length", INT, .axis = true, .optional = true, .min = 1, .max = LENGTH_MAX,
             .fallback_text = "query_length", .unit = "tokens",
             .help = "The number of keys, those of the memory included. There are at least as many "
                     "as queries.",
             .example = "6"),
    PE_PARAM("variant", CHOICE, .choices = variants,
             .help = "The distances, and the order of the columns. xlnet: key_length down to 1 - "
                     "query_length (with attn_type=uni down to 0), sines first. transformer_xl: "
                     "key_length - 1 down to 0, sines first. conformer: key_length - 1 down to 1 - "
                     "query_length, interleaved.",
             .example = "xlnet"),
    PE_PARAM("attn_type", CHOICE, .choices = directions,
             .help = "Only variant=xlnet reads it. bi: keys after a query have distances too. uni: "
                     "they have none.",
             .example = "bi"),
    PE_PARAM("clamp_len", INT, .min = -1, .max = LENGTH_MAX, .fallback = -1, .unit = "tokens",
             .help = "The largest distance. Farther ones count as this one. 0 and -1 set no limit. "
                     "variant=conformer does not read it.",
             .example = "-1"),
};

/* Row r is at distance farthest - r, clamped: the first and the last of the rows within the clamp
 * are there many times. */
typedef struct state {
    pe_sinusoid sinusoid;
    pe_positions within; /* distances */
    size_t before;       /* rows that repeat the first of them */
} state;

/* ---- which distances ---- */

/* What a variant does not read is no part of the canonical form. */
static pe_status drop_unread(pe_values *values, size_t variant, pe_problem *why)
{
    static const char *const optional[] = {"attn_type", "clamp_len"};
    const bool reads[] = {variant == XLNET, variant != CONFORMER};
    pe_value *clamp = pe_values_find(values, "clamp_len");
    for (size_t i = 0; i < PE_LEN(reads); i++) {
        if (reads[i])
            continue;
        const char *name = optional[i];
        if (pe_values_given(values, name))
            return pe_fail(why, PE_INVALID_PARAMETER, name, "variant=%s has no %s",
                           variants[variant], name);
        pe_values_find(values, name)->present = false;
    }
    if (clamp->integer == 0)
        clamp->integer = -1;
    return PE_OK;
}

/* ---- rows ---- */

static pe_status fill(const pe_plan *plan, const pe_region *region, void *out, pe_problem *why)
{
    const state *s = plan->state;
    const pe_dtype dtype = plan->tensors[region->tensor].dtype;
    const size_t bytes = region->columns * pe_dtype_bytes(dtype);
    const size_t after = s->before + s->within.count; /* the first row that repeats the last */
    size_t row = region->first;
    unsigned char *to = out;
    for (size_t left = region->units, some; left > 0; row += some, left -= some) {
        pe_region rows = *region;
        const bool within = row >= s->before && row < after;
        some = pe_size_min(left, row < s->before ? s->before - row : within ? after - row : left);
        rows.first = row < s->before ? 0 : within ? row - s->before : s->within.count - 1;
        rows.units = within ? some : 1;
        if (dtype != PE_INT32)
            PE_TRY(pe_sinusoid_fill(&s->sinusoid, &s->within, &rows, to, why));
        for (size_t r = 0; r < rows.units && dtype == PE_INT32; r++) {
            const int32_t distance = (int32_t)pe_positions_at(&s->within, rows.first + r);
            memcpy(to + r * bytes, &distance, sizeof distance);
        }
        if (!within)
            pe_relative_repeat(to, bytes, some - 1, to + bytes);
        to += some * bytes;
    }
    return PE_OK;
}

/* ---- the plan ---- */

static pe_status plan_relative(pe_values *values, pe_plan *out, pe_problem *why)
{
    pe_problem mistake;
    const size_t width = pe_values_size(values, "d_model");
    pe_status status = PE_OK;
    if (width % 2 != 0)
        status =
            pe_fail(why, PE_INVALID_PARAMETER, "d_model", "d_model must be even, got %zu", width);
    status = PE_ALSO(status, pe_relative_lengths(values, &mistake));
    PE_TRY(pe_problem_collect(
        status, drop_unread(values, pe_values_choice(values, "variant"), &mistake), &mistake, why));
    const size_t variant = pe_values_choice(values, "variant");
    const int64_t keys = pe_values_int(values, "key_length");
    const int64_t after = 1 - pe_values_int(values, "query_length");
    /* absent where a guess of verify changes the variant alone: both directions */
    const bool uni = variant == XLNET && pe_values_present(values, "attn_type") &&
                     pe_values_choice(values, "attn_type") == UNI;
    const int64_t farthest = variant == XLNET ? keys : keys - 1;
    const int64_t nearest = variant == TRANSFORMER_XL || uni ? 0 : after;
    const size_t rows = (size_t)(farthest - nearest + 1);
    const pe_shape line = {1, {rows}}, table = {2, {rows, width}};
    PE_TRY(pe_plan_add_tensor(out, "distances", PE_INT32, &line, 1, why));
    PE_TRY(pe_plan_add_tensor(out, "table", pe_values_dtype(values), &table, width, why));
    pe_sinusoid_spec spec = pe_sinusoid_read(values, width);
    spec.layout = variant == CONFORMER ? PE_SINUSOIDAL_INTERLEAVED : PE_SINUSOIDAL_SIN_COS;
    PE_TRY(pe_plan_begin(out, sizeof(state), fill, why));
    state *s = out->state;
    out->makes_parts = true;
    /* The span holds 0 or 1, so something of it is always within. */
    const pe_value *clamp = pe_values_find(values, "clamp_len");
    const bool clamped = clamp->present && clamp->integer > 0;
    const int64_t limit = clamped ? clamp->integer : LENGTH_MAX;
    const int64_t first = farthest < limit ? farthest : limit;
    const int64_t last = nearest > -limit ? nearest : -limit;
    s->within = pe_positions_range(first, -1, (size_t)(first - last + 1));
    s->before = (size_t)(farthest - first);
    return pe_sinusoid_plan(&spec, &s->within, 1, out, &s->sinusoid, why);
}

/**
 * Source    XLNetModel.relative_positional_encoding (bi_data=False),
 *           Wav2Vec2ConformerRelPositionalEmbedding; kimiyoung/transformer-xl, MemTransformerLM.
 * Shapes    distances [n] int32, table [n, d_model]; n: key_length + query_length (xlnet bi),
 *           key_length + 1 (xlnet uni), key_length (transformer_xl), key_length + query_length - 1
 *           (conformer).
 * Units     distance = position of the query - position of the key, in tokens.
 * Accuracy  correctly rounded.
 */
const pe_resource pe_sinusoidal_relative = {
    PE_NAMED("sinusoidal", "/relative"),
    .kind = PE_TABLE,
    .summary = "Sinusoidal encodings of distances between queries and keys, the farthest first.",
    .formula = "sin(D w_i) and cos(D w_i), w_i = base^(-2i/d_model), D from key_length (xlnet) or "
               "key_length - 1 down to 1 - query_length (xlnet bi, conformer) or 0",
    .labels = PE_LABELS({"distances", "row", "distance [tokens]"},
                        {.axes = "row, dimension", .value = "value"}),
    .source = "Dai et al. 2019, arXiv:1901.02860; Yang et al. 2019, arXiv:1906.08237; "
              "huggingface/transformers@b4b5244c9c7cdb80d0aaafdb8f35244612788532",
    .param_sets = {PE_PARAMS(own), &pe_sinusoidal_base_params, &pe_sinusoidal_amplitude_params,
                   &pe_params_output_exact},
    .plan = plan_relative,
};
