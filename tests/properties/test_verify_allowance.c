/* SPDX-License-Identifier: MIT */
/*
 * test_verify_allowance.c - allowances are as narrow as the report says: a correct table of each
 * family is a match; with one element moved by a little more than twice the stated allowance it is
 * none, and the report names that element. Small claims of each family are answered, whatever
 * numbers are sent.
 */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/claims/claim.h"
#include "encodings/registry.h"
#include "support/encode.h"
#include "support/tensors_file.h"
#include "verify/upload/geometry.h"

static const pe_read_limits read_limits = {
    .max_elements = 1 << 20, .max_positions = 1 << 20, .max_depth = 32};
static const pe_limits limits = {.max_elements = 1 << 20};

static int start(void **state)
{
    pe_problem why;
    return pe_tables_make(1 << 24, &encode_tables, &why) == PE_OK ? 0 : -1;
}

static int stop(void **state)
{
    pe_tables_free(encode_tables);
    return 0;
}

/* ---- claims ---------------------------------------------------------------------------------- */

#define FLOATS   "dtype={float32|float64|float16|bfloat16}"
#define WIDE     "dtype={float32|float64|bfloat16}" /* of wavelengths */
#define NUMERICS "{|&numerics=exact}"
#define EXACT    FLOATS NUMERICS
#define EITHER   "{|&numerics=exact|&numerics=float32}"
#define STARTS   "positions={0:24|0:96:4|1000:1024|131000:131024|3,-7,99.5}"
#define ORIGINAL "&original_max_position_embeddings=4096"
#define SCALINGS                                                                                   \
    "rope_theta={10000|500000|1000000}&"                                                           \
    "{rope_type=default|rope_type=default&partial_rotary_factor=0.5|rope_type=linear&factor=4|"    \
    "rope_type=ntk&factor=8|rope_type=yarn&factor=4" ORIGINAL "|"                                  \
    "rope_type=llama3&factor=8&low_freq_factor=1&high_freq_factor=4" ORIGINAL "|"                  \
    "rope_type=dynamic&factor=2&max_position_embeddings=64&seq_len=200|"                           \
    "rope_type=proportional&partial_rotary_factor=0.5}"

/* Of {a|b|c} one is drawn. */
static const struct family {
    const char *resource, *query;
    const char *tensor; /* the only one that is sent; NULL: all of the plan */
    bool vectors;       /* rotated by the table */
} families[] = {
    {"sinusoidal",
     "d_model={16|33|64}&base={10000|1000}&layout={interleaved|sin_cos|cos_sin}&scale={1|30}&"
     "amplitude={1|8}&" STARTS "&" FLOATS EITHER,
     NULL, false},
    {"sinusoidal/offset", "d_model=16&offset={1|77}&form={blocks|matrix}&" EXACT, NULL, false},
    {"sinusoidal/grid",
     "d_model=32&height={3|14}&width=5&combine={concat|add}&axis_order={wh|hw}&"
     "extra_tokens={0|1}&amplitude={1|3}&normalize={true|false}&" EXACT,
     NULL, false},
    {"sinusoidal/grid",
     "d_model=16&height=7&width=5&valid_height={1|6}&{|valid_width=4&}axis_order={wh|hw}&"
     "layout={interleaved|sin_cos}&offset={0|0.5|1}&normalize={true|false}&" EXACT,
     NULL, false},
    {"sinusoidal/timing",
     "d_model={16|33}&length=30&start_index={0|5000}&variant={tensor2tensor|documented}&" EXACT,
     NULL, false},
    {"sinusoidal/relative",
     "d_model=32&query_length={4|20}&variant={xlnet|conformer}&amplitude={1|2}&" EXACT, NULL,
     false},
    {"rope/frequencies", "head_dim={16|64}&" SCALINGS "&" WIDE EITHER, NULL, false},
    {"rope/frequencies", "head_dim={16|64}&" SCALINGS "&" WIDE EITHER, "inv_freq", false},
    {"rope/table",
     "head_dim={16|64}&" SCALINGS "&cache_layout={pairs|hf|vllm|onnx|meta|trtllm}&"
     "pairing={half|interleaved}&" STARTS "&" FLOATS EITHER,
     NULL, false},
    {"rope/table",
     "head_dim={16|64}&" SCALINGS "&cache_layout={pairs|hf}&" STARTS "&" FLOATS EITHER, "{cos|sin}",
     false},
    {"rope/table",
     "head_dim=32&mrope_section={4,6,6|6,5,5}&mrope_interleaved={true|false}&"
     "positions=0,1,2,3,7,8;0,1,2,3,7,8;0,1,3,5,7,900&" EXACT,
     NULL, false},
    {"rope/table",
     "head_dim={16|64}&" SCALINGS "&pairing={half|interleaved}&" STARTS "&" FLOATS EITHER, NULL,
     true},
    {"rope/decay", "head_dim={16|64}&rope_theta={10000|500000}&offsets={0:40|5000:5040}&" EXACT,
     NULL, false},
    {"rope/scaled-base", "head_dim={16|64}&factor={2|8}&method={ntk|linear}&" WIDE NUMERICS, NULL,
     false},
    {"rope/grid",
     "head_dim={32|80}&convention={qwen2_vl|pixtral|dinov3}&height={3|14}&width=5&" EXACT, NULL,
     false},
    {"rope/grid", "head_dim={32|80}&height={3|14}&width=5&" EXACT, "{cos|sin|angles}", false},
    {"rope/attention-scale", "positions={0:40|16000:16500:8}&beta={0.1|0.5}&" EXACT, NULL, false},
    {"rope/xpos/table", "head_dim={16|64}&scale_base={512|64}&positions={0:24|100:200:4}&" EXACT,
     NULL, false},
    {"rope/mrope-positions", "token_runs=text:3,image,text:2&image_grid_thw=1,4,6", NULL, false},
    {"alibi/slopes", "num_heads={8|12|20}&variant={press|formula}&" EXACT, NULL, false},
    {"alibi/bias",
     "num_heads={8|12}&query_length={1|9}&key_length=12&form={symmetric|causal|key}&"
     "variant={press|formula}&" EXACT,
     NULL, false},
    {"t5/buckets",
     "query_length={4|40}&{variant=t5|variant=t5&bidirectional=false|variant=deberta}", NULL,
     false},
    {"shaw/indices", "query_length={4|40}&max_relative_position={3|16}", NULL, false},
    {"swin/index", "window_height={3|7}&window_width=4", NULL, false},
    {"swin/coordinates", "window_height={3|7}&window_width=4&" EXACT, NULL, false},
};

/* The smallest sizes, and those where a pair, a step or a partner is missing. Some drawn claims are
 * none. */
static const struct family small[] = {
    {"sinusoidal",
     "d_model={1|2|3|5|7|8}&freq_shift={0|0.5|1|2}&layout={interleaved|sin_cos|cos_sin}&"
     "positions={0:1|5|0:3|0:9|3,-7,99.5}{|&padding_idx=1}&" EXACT,
     NULL, false},
    {"sinusoidal/offset", "d_model={2|4|6}&offset={0|1|-3}&form={blocks|matrix}&" EXACT, NULL,
     false},
    {"sinusoidal/grid",
     "d_model={4|8}&height={1|2}&width={1|3}&combine={concat|add}&extra_tokens={0|1}&" EXACT, NULL,
     false},
    {"sinusoidal/timing",
     "d_model={2|3|5|8}&length={1|2|5}&variant={tensor2tensor|documented}&" EXACT, NULL, false},
    {"sinusoidal/relative", "d_model={2|4|6}&query_length={1|3}&variant={xlnet|conformer}&" EXACT,
     NULL, false},
    {"rope/frequencies", "head_dim={2|4|6|8}&" SCALINGS "&" WIDE EITHER, "{|inv_freq}", false},
    {"rope/table",
     "head_dim={2|4|6|8}&" SCALINGS "&cache_layout={pairs|hf|vllm|onnx|meta|trtllm}&"
     "pairing={half|interleaved}&positions={0:1|7|0:3|0:9}&" FLOATS EITHER,
     NULL, false},
    {"rope/table", "head_dim={2|4|8}&" SCALINGS "&positions={0:1|0:9}&" FLOATS, "{cos|sin}", false},
    {"rope/table",
     "head_dim={6|8}&mrope_section={1,1,1|2,1,1|1,0,2|4,0,0}&mrope_interleaved={true|false}&"
     "positions={0;0;0|0,1;0,1;0,9}&" EXACT,
     NULL, false},
    {"rope/table",
     "axes_dims={2,2|2,4,2|4}&positions={0;0|0,1;3,1|0,1;3,1;0,0|0,1}&cache_layout={pairs|hf}&"
     "rope_theta={1|10000}&" EXACT,
     NULL, false},
    {"rope/table",
     "head_dim={2|4|6|8}&" SCALINGS "&pairing={half|interleaved}&positions={0:1|7|0:3}&" FLOATS,
     NULL, true},
    {"rope/table",
     "head_dim={6|8}&mrope_section=1,1,1&pairing={half|interleaved}&"
     "positions={0;0;0|0,1,2;0,1,1;0,9,2}&" EXACT,
     NULL, true},
    {"rope/decay", "head_dim={2|4}&rope_theta={1|10000}&offsets={0:1|0:3|-5:5}&" EXACT, NULL,
     false},
    {"rope/scaled-base", "head_dim={2|4|6}&factor={1|2}&method={ntk|linear}&" WIDE NUMERICS, NULL,
     false},
    {"rope/compare", "head_dim={4|8}&factor=4&original_max_position_embeddings=64&" FLOATS, NULL,
     false},
    {"rope/grid",
     "head_dim={4|8|12}&convention={qwen2_vl|pixtral|dinov3|sam2|eva02}&height={1|2}&"
     "width={1|3}&" EXACT,
     "{|cos|sin|angles}", false},
    {"rope/attention-scale", "positions={0:1|0:3}&beta={0.1|0.5}&" EXACT, NULL, false},
    {"rope/xpos/table", "head_dim={2|4}&positions={0:1|0:5}&" EXACT, NULL, false},
    {"rope/mrope-positions", "token_runs={text:1|image|text:2,image}&image_grid_thw={1,1,1|1,2,2}",
     NULL, false},
    {"alibi/slopes", "num_heads={1|2|3|12}&variant={press|formula}&" EXACT, NULL, false},
    {"alibi/bias",
     "num_heads={1|3}&query_length={1|2}&key_length={2|3}&form={symmetric|causal|key}&"
     "{|mask_value=-10000&}" EXACT,
     NULL, false},
    {"t5/buckets",
     "{query_length=1|query_length=5|query_length=2&key_length=9|distances=-2:3|distances=5|"
     "distances=1,-9,0|distances=-1000000:1000000:999999}&variant={t5|deberta|wavlm}{|"
     "&bidirectional=false|&num_buckets=4}",
     NULL, false},
    {"shaw/indices", "query_length={1|2|5}&{max_relative_position=1|left_max=2&right_max=0}", NULL,
     false},
    {"swin/index", "window_height={1|2|3}&window_width={1|2}", NULL, false},
    {"swin/coordinates", "window_height={1|2|3}&window_width={1|2}&" EXACT, NULL, false},
};

/* One of what stands between braces, which do not nest. */
static void draw_text(random_source *random, const char *pattern, pe_buffer *out)
{
    while (*pattern != '\0') {
        const size_t plain = strcspn(pattern, "{");
        pe_buffer_add(out, pattern, plain);
        pattern += plain;
        if (*pattern == '\0')
            return;
        const char *end = strchr(pattern++, '}'), *at = pattern;
        size_t choices = 1;
        for (const char *c = pattern; c < end; c++)
            choices += *c == '|';
        for (size_t skip = random_below(random, choices); skip > 0; skip--)
            at = strchr(at, '|') + 1;
        pe_buffer_add(out, at, strcspn(at, "|}"));
        pattern = end + 1;
    }
}

/* ---- uploads --------------------------------------------------------------------------------- */

enum { SENT_MOST = PE_MAX_TENSORS };

/* Tensors as they are sent, and their elements as doubles. */
typedef struct upload {
    size_t n;
    struct sent {
        char name[32], shape[64];
        pe_dtype dtype;
        size_t elements;
        double *number; /* owned */
    } sent[SENT_MOST];
} upload;

static double as_stored(pe_dtype dtype, double x)
{
    unsigned char element[8];
    if (dtype == PE_INT32)
        return x;
    pe_dtype_store(dtype, x, element);
    return pe_dtype_load(dtype, element);
}

static void add_tensor(upload *to, const char *name, const pe_tensor *tensor, double *number)
{
    struct sent *sent = &to->sent[to->n++];
    *sent = (struct sent){.dtype = tensor->dtype, .elements = tensor->elements, .number = number};
    snprintf(sent->name, sizeof sent->name, "%s", name);
    size_t used = 0;
    for (size_t d = 0; d < tensor->shape.ndim; d++)
        used += (size_t)snprintf(sent->shape + used, sizeof sent->shape - used, "%c%zu",
                                 d == 0 ? '[' : ',', tensor->shape.dim[d]);
    snprintf(sent->shape + used, sizeof sent->shape - used, "%s", used == 0 ? "[]" : "]");
}

/* Vectors drawn, and turned by the table: a c - b s, b c + a s. */
static void add_vectors(random_source *random, const encoded *table, upload *to)
{
    const pe_tensor *cos = &table->plan.tensors[0];
    const bool half = strcmp(pe_geometry_choice_text(&table->ask.values, "pairing"), "half") == 0;
    const size_t rows = cos->units, pairs = cos->unit;
    const size_t width = (size_t)pe_values_int(&table->ask.values, "head_dim");
    const pe_dtype dtype = pe_values_dtype(&table->ask.values);
    double *c = encoded_all(table, 0), *s = encoded_all(table, 1);
    double *in = random_reals(random, rows * width, -2, 2);
    double *out = malloc(rows * width * sizeof *out);
    assert_non_null(out);
    for (size_t r = 0; r < rows; r++) { /* as tokens have it, some are much longer */
        const double length = random_magnitude(random, 100);
        for (size_t e = r * width; e < (r + 1) * width; e++)
            out[e] = in[e] = as_stored(dtype, in[e] * length);
    }
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < pairs; i++) {
            const size_t x = r * width + (half ? i : 2 * i), y = x + (half ? pairs : 1);
            const double cosine = c[r * pairs + i], sine = s[r * pairs + i];
            out[x] = as_stored(dtype, in[x] * cosine - in[y] * sine);
            out[y] = as_stored(dtype, in[y] * cosine + in[x] * sine);
        }
    const pe_tensor of = {.dtype = dtype, .shape = {2, {rows, width}}, .elements = rows * width};
    add_tensor(to, "inputs", &of, in);
    add_tensor(to, "rotated", &of, out);
    free(c);
    free(s);
}

static upload make_upload(random_source *random, const struct family *family, const char *tensor,
                          const encoded *made)
{
    upload u = {.n = 0};
    if (family->vectors) {
        add_vectors(random, made, &u);
        return u;
    }
    for (size_t t = 0; t < made->plan.n_tensors; t++)
        if (tensor[0] == '\0' || strcmp(tensor, made->plan.tensors[t].name) == 0)
            add_tensor(&u, made->plan.tensors[t].name, &made->plan.tensors[t],
                       encoded_all(made, t));
    return u;
}

static void upload_free(upload *u)
{
    for (size_t t = 0; t < u->n; t++)
        free(u->sent[t].number);
}

static void put_body(const upload *u, pe_buffer *out)
{
    static const char *const types[] = {[PE_FLOAT32] = "F32",
                                        [PE_FLOAT64] = "F64",
                                        [PE_FLOAT16] = "F16",
                                        [PE_BFLOAT16] = "BF16",
                                        [PE_INT32] = "I32"};
    part parts[SENT_MOST];
    void *bytes[SENT_MOST] = {NULL};
    for (size_t t = 0; t < u->n; t++) {
        const struct sent *sent = &u->sent[t];
        const size_t each = pe_dtype_bytes(sent->dtype);
        unsigned char *at = bytes[t] = malloc(sent->elements * each + 1);
        assert_non_null(at);
        for (size_t e = 0; e < sent->elements; e++) {
            const int32_t whole = sent->dtype == PE_INT32 ? (int32_t)sent->number[e] : 0;
            if (sent->dtype == PE_INT32)
                memcpy(at + e * each, &whole, each);
            else
                pe_dtype_store(sent->dtype, sent->number[e], at + e * each);
        }
        parts[t] = (part){sent->name, types[sent->dtype], sent->shape, at, sent->elements * each};
    }
    parts_safetensors(parts, u->n, out);
    for (size_t t = 0; t < u->n; t++)
        free(bytes[t]);
}

/* ---- asking ---------------------------------------------------------------------------------- */

static bool no_search(void *context)
{
    return true;
}

/* What verify says of an upload, with the place of the first bad element. */
typedef struct verdict {
    bool matches, any_bad;
    double allowed, expected, got;
    char tensor[32];
    size_t element;
} verdict;

/* The report on an upload, and the claim that was read of it. */
static pe_report reported(const random_source *random, const char *query, const upload *u,
                          const pe_verify_limits *bounds, pe_claim *claim)
{
    pe_buffer body = {0};
    pe_report report = {0};
    pe_problem why;
    put_body(u, &body);
    const pe_binary_body sent = {.string = pe_slice_of(query),
                                 .media_type = "application/vnd.safetensors",
                                 .data = body.data,
                                 .bytes = body.bytes};
    const pe_verify_context context = {
        .tables = encode_tables, .limits = &limits, .bounds = bounds};
    if (pe_claim_binary_parse(&sent, &read_limits, claim, &why) != PE_OK ||
        pe_verify(claim, &context, &report, &why) != PE_OK)
        fail_msg("seed %llu: %s: %s: %s", (unsigned long long)random->seed, query, why.where,
                 why.detail);
    pe_buffer_free(&body);
    return report;
}

static verdict ask(const random_source *random, const char *query, const upload *u)
{
    static const pe_verify_limits bounds = {
        .max_elements = 1 << 20, .max_work = 1, .given_up = no_search};
    pe_claim claim;
    pe_report report = reported(random, query, u, &bounds, &claim);
    const pe_bad *bad = &report.first_bad;
    verdict out = {.matches = report.matches,
                   .any_bad = bad->any,
                   .allowed = report.allowed.max_abs,
                   .expected = bad->expected,
                   .got = bad->got};
    snprintf(out.tensor, sizeof out.tensor, "%s", bad->any ? bad->tensor : "");
    for (size_t t = 0; t < claim.n_uploads && bad->any; t++)
        if (strcmp(claim.uploads[t].name, bad->tensor) == 0)
            for (size_t d = 0; d < bad->ndim; d++)
                out.element = out.element * claim.uploads[t].array.shape.dim[d] + bad->index[d];
    pe_verify_report_free(&report);
    pe_verify_claim_free(&claim);
    return out;
}

/* The nearest number of the type that is more than `most` away from x. */
static double move(pe_dtype dtype, double x, double most, double sign)
{
    if (dtype == PE_INT32)
        return x + sign;
    double off = most * (1 + 0x1p-20);
    double moved = as_stored(dtype, x + sign * off);
    while (fabs(moved - x) <= most) {
        off *= 1.25;
        moved = as_stored(dtype, x + sign * off);
    }
    return moved;
}

/* One element of those that may be wrong: masks and inputs are no numbers of the table. */
static void plant(random_source *random, const char *query, upload *u, double allowed)
{
    struct sent *sent;
    size_t e;
    do {
        sent = &u->sent[random_below(random, u->n)];
        if (sent->number == NULL) {
            fail_msg("%s has no numbers", sent->name);
            return;
        }
        e = random_below(random, sent->elements);
    } while (strcmp(sent->name, "inputs") == 0 || !isfinite(sent->number[e]));
    const double x = sent->number[e], sign = random_below(random, 2) == 0 ? 1 : -1;
    verdict told = {.matches = true, .allowed = allowed};
    do {
        allowed = told.allowed;
        sent->number[e] = move(sent->dtype, x, 2 * allowed, sign);
        told = ask(random, query, u);
    } while (told.matches && told.allowed > allowed); /* of float32, no more of exact numbers */
    const bool named = u->n == 1 || strcmp(told.tensor, sent->name) == 0;
    if (told.matches || !told.any_bad || told.element != e || !named)
        fail_msg("seed %llu: %s: element %zu of %s was %.17g, and is %.17g; allowed %.6g; %s%s "
                 "element %zu of %s: expected %.17g, got %.17g",
                 (unsigned long long)random->seed, query, e, sent->name, x, sent->number[e],
                 allowed, told.matches ? "a match, " : "",
                 told.any_bad ? "bad is" : "nothing bad:", told.element, told.tensor, told.expected,
                 told.got);
    sent->number[e] = x;
}

#define CASES   2
#define PLANTED 3

/* A claim that was drawn, and the tensors that it stands for. */
typedef struct drawn {
    pe_buffer asked; /* the query of verify */
    encoded made;    /* its status is not PE_OK where the claim is none */
    upload upload;
} drawn;

static drawn draw(random_source *random, const struct family *family)
{
    drawn out = {0};
    pe_buffer query = {0}, tensor = {0};
    draw_text(random, family->query, &query);
    draw_text(random, family->tensor != NULL ? family->tensor : "", &tensor);
    pe_buffer_format(&out.asked, "encoding=%s&%s", family->resource, pe_buffer_text(&query));
    out.made = encode(pe_registry_find(family->resource), "%s", pe_buffer_text(&query));
    if (out.made.status == PE_OK)
        out.upload = make_upload(random, family, pe_buffer_text(&tensor), &out.made);
    pe_buffer_free(&query);
    pe_buffer_free(&tensor);
    return out;
}

static void drawn_free(drawn *d)
{
    upload_free(&d->upload);
    encoded_free(&d->made);
    pe_buffer_free(&d->asked);
}

static void twice_the_allowance_is_found(void **state)
{
    random_source random = random_make("allowance");
    for (size_t c = 0; c < CASES * PE_LEN(families); c++) {
        drawn d = draw(&random, &families[c % PE_LEN(families)]);
        const char *asked = pe_buffer_text(&d.asked);
        if (d.made.status != PE_OK)
            fail_msg("seed %llu: %s: %s: %s", (unsigned long long)random.seed, asked,
                     d.made.why.where, d.made.why.detail);
        const verdict clean = ask(&random, asked, &d.upload);
        if (!clean.matches)
            fail_msg("seed %llu: %s is no match: element %zu of %s: expected %.17g, got %.17g",
                     (unsigned long long)random.seed, asked, clean.element, clean.tensor,
                     clean.expected, clean.got);
        for (size_t p = 0; p < PLANTED; p++)
            plant(&random, asked, &d.upload, clean.allowed);
        drawn_free(&d);
    }
}

/* ---- any numbers ----------------------------------------------------------------------------- */

#define SMALL_CASES 6

/* Some elements, one, or a row of zeros; others than they were. */
static void spoil(random_source *random, struct sent *sent)
{
    static const double odd[] = {0, 1, -1, 0.5, 3e38, -1e-40, (double)NAN, (double)INFINITY};
    const size_t n = random_below(random, 3) == 0 ? sent->elements : 1 + random_below(random, 3);
    const bool zeros = random_below(random, 4) == 0;
    for (size_t k = 0; k < n; k++) {
        const size_t e = n == sent->elements ? k : random_below(random, sent->elements);
        double x = zeros ? 0 : odd[random_below(random, PE_LEN(odd))];
        if (random_below(random, 2) == 0)
            x = sent->number[random_below(random, sent->elements)];
        if (sent->dtype == PE_INT32)
            x = (double)random_below(random, 40) - 4;
        sent->number[e] = as_stored(sent->dtype, x);
    }
}

static void assert_explained(const char *asked, const pe_report *report)
{
    if (report->matches && report->n_findings > 0)
        fail_msg("%s: a match has %zu findings", asked, report->n_findings);
    for (size_t f = 0; f < report->n_findings; f++)
        if (report->findings[f].rule[0] == '\0' || report->findings[f].remedy[0] == '\0' ||
            report->findings[f].evidence[0] == '\0' || report->findings[f].rank == 0)
            fail_msg("%s: finding %zu is not whole: \"%s\", \"%s\", \"%s\", rank %d", asked, f,
                     report->findings[f].rule, report->findings[f].remedy,
                     report->findings[f].evidence, (int)report->findings[f].rank);
}

static void any_numbers_are_answered(void **state)
{
    static const pe_verify_limits bounds = {.max_elements = 1 << 20, .max_work = 1 << 22};
    random_source random = random_make("small claims");
    size_t asked = 0;
    for (size_t c = 0; c < SMALL_CASES * PE_LEN(small); c++) {
        drawn d = draw(&random, &small[c % PE_LEN(small)]);
        for (size_t t = 0; t < d.upload.n; t++)
            if (strcmp(d.upload.sent[t].name, "inputs") != 0)
                spoil(&random, &d.upload.sent[t]);
        if (d.upload.n > 0) {
            pe_claim claim;
            pe_report report =
                reported(&random, pe_buffer_text(&d.asked), &d.upload, &bounds, &claim);
            assert_explained(pe_buffer_text(&d.asked), &report);
            pe_verify_report_free(&report);
            pe_verify_claim_free(&claim);
            asked++;
        }
        drawn_free(&d);
    }
    assert_true(2 * asked > SMALL_CASES * PE_LEN(small));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(twice_the_allowance_is_found),
                                       cmocka_unit_test(any_numbers_are_answered)};
    return cmocka_run_group_tests(tests, start, stop);
}
