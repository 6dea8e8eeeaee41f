/* SPDX-License-Identifier: MIT */
/* learned_rows.c - rows of a table that training has made. */
#include "encodings/learned/learned_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "encodings/registry.h"

static const pe_param name_params[] = {
    PE_PARAM("name", NAME, .required = true, .max = PE_LEARNED_NAME_MAX,
             .help = "The name of a table that GET /v1/learned lists.", .example = "wpe"),
};
const pe_param_set pe_learned_name_params = {name_params, PE_LEN(name_params)};

static const pe_param offset_params[] = {
    PE_PARAM("offset", INT, .min = 0, .max = PE_POSITION_LIMIT - 1, .fallback = 0, .unit = "rows",
             .help = "It is added to every position. The first rows of some tables belong to no "
                     "position: OPT needs 2, RoBERTa needs padding_idx + 1.",
             .example = "2"),
};
const pe_param_set pe_learned_offset_params = {offset_params, PE_LEN(offset_params)};

static const pe_param dtype_params[] = {
    PE_PARAM("dtype", CHOICE, .optional = true, .choices = pe_plan_dtypes,
             .fallback_text = "that of the table",
             .help = "The element type of the numbers. Each is rounded to it once.",
             .example = "float32"),
};
const pe_param_set pe_learned_dtype_params = {dtype_params, PE_LEN(dtype_params)};

static const pe_param positions_params[] = {
    PE_PARAM("positions", POSITIONS, .optional = true, .integers_only = true,
             .fallback_text = "all that the table has", .unit = "tokens",
             .help = "Positions: a:b, a:b:step, a number, or a list.", .example = "0:8"),
};

/* ---- what the resources share ---- */

static pe_status fail_unknown(const char *name, const pe_learned_tables *learned, pe_problem *why)
{
    size_t n;
    const pe_learned_table *table = pe_learned_tables_all(learned, &n);
    const char **names = calloc(n + 1, sizeof *names), *near = NULL;
    for (size_t i = 0; names != NULL && i < n; i++)
        names[i] = table[i].name;
    if (names != NULL) /* else nothing is suggested */
        near = pe_nearest_name(name, names, n);
    free(names);
    if (learned == NULL)
        return pe_fail(
            why, PE_NOT_FOUND, "",
            "there is no learned table %.64s; start the server with --learned-dir FOLDER", name);
    if (near == NULL)
        return pe_fail(why, PE_NOT_FOUND, "",
                       "there is no learned table %.64s; GET /v1/learned lists them", name);
    return pe_fail(why, PE_NOT_FOUND, "", "there is no learned table %.64s; did you mean %.128s?",
                   name, near);
}

static void release(void *learned)
{
    pe_learned_tables_free(learned);
}

pe_status pe_learned_open(const pe_values *values, pe_tables *tables, pe_plan *plan,
                          pe_learned_rows *out, pe_problem *why)
{
    const char *name = pe_values_find(values, "name")->text;
    if (name == NULL)
        return pe_fail(why, PE_MISSING_PARAMETER, "name", "name is required: which table?");
    pe_learned_tables *learned = pe_tables_learned(tables);
    pe_plan_owns(plan, learned, release);
    const pe_learned_table *table = pe_learned_tables_find(learned, name);
    if (table == NULL)
        return pe_status_known(fail_unknown(name, learned, why), PE_NOT_FOUND);
    _Static_assert(sizeof table->digest == sizeof plan->version, "a digest is a version");
    memcpy(plan->version, table->digest, sizeof plan->version);
    const bool moved = pe_values_find(values, "offset") != NULL;
    *out = (pe_learned_rows){.rows = &table->rows,
                             .largest = table->largest,
                             .name = table->name,
                             .offset = moved ? pe_values_int(values, "offset") : 0};
    return PE_OK;
}

pe_status pe_learned_dtype(pe_values *values, const pe_learned_rows *table, double largest,
                           pe_dtype *out, pe_problem *why)
{
    pe_value *dtype = pe_values_find(values, "dtype");
    if (!dtype->present)
        dtype->choice = (size_t)table->rows->dtype;
    dtype->present = true;
    *out = (pe_dtype)dtype->choice;
    unsigned char rounded[sizeof(double)];
    pe_dtype_store(*out, largest, rounded);
    if (isinf(pe_dtype_load(*out, rounded)))
        return pe_fail(why, PE_INVALID_PARAMETER, "dtype",
                       "numbers up to %.9g overflow %s, whose largest is %.9g", largest,
                       pe_dtype_name(*out), pe_dtype_max(*out));
    return PE_OK;
}

pe_status pe_learned_check_rows(const pe_learned_rows *table, double first, double last,
                                const char *where, pe_problem *why)
{
    const size_t rows = table->rows->shape.dim[0];
    const int64_t offset = table->offset;
    const double low = fmin(first, last), high = fmax(first, last), by = (double)offset;
    if (low + by >= 0 && high + by < (double)rows)
        return PE_OK;
    return pe_fail(why, PE_INVALID_PARAMETER, where,
                   "%.128s has %zu rows, so with offset %lld positions must be between %lld and "
                   "%lld, got %.0f",
                   table->name, rows, (long long)offset, (long long)-offset,
                   (long long)rows - 1 - (long long)offset, high + by < (double)rows ? low : high);
}

pe_status pe_learned_check_positions(const pe_learned_rows *table, const pe_positions *positions,
                                     pe_problem *why)
{
    double low, high;
    pe_positions_bounds(positions, &low, &high);
    return pe_learned_check_rows(table, low, high, "positions", why);
}

void pe_learned_copy(const pe_array *rows, size_t first, size_t n, pe_dtype dtype, void *out)
{
    const size_t from = pe_dtype_bytes(rows->dtype), to = pe_dtype_bytes(dtype);
    const unsigned char *in = (const unsigned char *)rows->data + first * from;
    unsigned char *at = out;
    if (dtype == rows->dtype) {
        memcpy(out, in, n * from);
        return;
    }
    for (size_t i = 0; i < n; i++)
        pe_dtype_store(dtype, pe_dtype_load(rows->dtype, in + i * from), at + i * to);
}

/* ---- the rows ---- */

pe_status pe_learned_fill(const pe_plan *plan, const pe_region *region, void *out,
                          pe_problem *why PE_UNUSED)
{
    const pe_learned_places *s = plan->state;
    const pe_tensor *tensor = &plan->tensors[region->tensor];
    const size_t bytes = region->columns * pe_dtype_bytes(tensor->dtype);
    const bool together = s->positions.list == NULL && s->positions.step == 1;
    const size_t some = together ? region->units : 1;
    for (size_t u = 0; u < region->units; u += some) {
        const int64_t row = (int64_t)pe_positions_at(&s->positions, region->first + u) + s->offset;
        pe_learned_copy(s->rows, (size_t)row * tensor->unit + region->column,
                        some * region->columns, tensor->dtype, (char *)out + u * bytes);
    }
    return PE_OK;
}

/* All positions, where none are asked for. */
static pe_status derive_positions(pe_values *values, const pe_learned_rows *table, pe_problem *why)
{
    pe_value *positions = pe_values_find(values, "positions");
    const size_t rows = table->rows->shape.dim[0];
    const int64_t offset = table->offset;
    if (positions->present)
        return pe_learned_check_positions(table, &positions->positions, why);
    if ((uint64_t)offset >= rows)
        return pe_fail(why, PE_INVALID_PARAMETER, "offset",
                       "%.128s has %zu rows, so offset must be below that, got %lld", table->name,
                       rows, (long long)offset);
    positions->positions = pe_positions_range(0, 1, rows - (size_t)offset);
    positions->present = true;
    return PE_OK;
}

static pe_status plan_rows(pe_values *values, pe_plan *out, pe_problem *why)
{
    pe_learned_rows table = {0};
    pe_dtype dtype = PE_FLOAT32;
    PE_TRY(pe_learned_open(values, out->tables, out, &table, why));
    PE_TRY(pe_learned_dtype(values, &table, table.largest, &dtype, why));
    PE_TRY(derive_positions(values, &table, why));
    const pe_positions *positions = pe_values_positions(values, "positions");
    const size_t width = table.rows->shape.dim[1];
    const pe_shape shape = {2, {positions->count, width}};
    PE_TRY(pe_plan_add_tensor(out, "rows", dtype, &shape, width, why));
    PE_TRY(pe_plan_begin(out, sizeof(pe_learned_places), pe_learned_fill, why));
    pe_learned_places *s = out->state;
    out->makes_parts = true;
    s->rows = table.rows;
    s->offset = table.offset;
    return pe_plan_positions(out, values, "positions", &s->positions, why);
}

/**
 * Source    BERT, GPT-2: Devlin et al. 2018, arXiv:1810.04805.
 * Shapes    [positions, width].
 * Accuracy  the table's numbers, rounded once where dtype is narrower.
 */
const pe_resource pe_learned_table_rows = {
    .path = "/v1/learned/{name}",
    .encoding = "learned",
    .name = "learned",
    .kind = PE_TABLE,
    .summary = "Rows of a learned table, one per position.",
    .formula = "PE(pos) = table[pos + offset]",
    .labels = PE_LABELS({.axes = "positions, dimension", .value = "value"}),
    .source = "Devlin et al. 2018, arXiv:1810.04805; offset: "
              "huggingface/transformers@b4b5244c9c7cdb80d0aaafdb8f35244612788532, "
              "OPTLearnedPositionalEmbedding",
    .param_sets = {&pe_learned_name_params, PE_PARAMS(positions_params), &pe_learned_offset_params,
                   &pe_learned_dtype_params, &pe_params_exact},
    .plan = plan_rows,
};
