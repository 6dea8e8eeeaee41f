/* SPDX-License-Identifier: MIT */
/* expected_plain_numbers.c - the numbers that a guess stands for, where an upload has no pairs. */
#include "plan/plan.h"
#include "plan/resource.h"
#include "verify/compare/expected_numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verify/compare/allowance.h"

bool pe_expect_plain_fits(pe_expect *expect)
{
    const pe_plan *plan = expect->plan;
    const pe_claim *claim = expect->view->claim;
    expect->repeat = 1;
    for (size_t t = 0; t < claim->n_uploads; t++) {
        const size_t of = expect->view->plan_tensor[t];
        if (of >= plan->n_tensors)
            return false;
        const pe_tensor *tensor = &plan->tensors[of];
        const pe_array *array = &claim->uploads[t].array;
        if (tensor->elements == array->elements)
            continue;
        if (tensor->shape.ndim != 3 || array->shape.ndim != 3 || plan->n_tensors != 1 ||
            tensor->shape.dim[1] != 1 || tensor->shape.dim[0] != array->shape.dim[0] ||
            tensor->shape.dim[2] != array->shape.dim[2])
            return false;
        expect->repeat = array->shape.dim[1];
    }
    return true;
}

size_t pe_expect_plain_room(const pe_expect *expect)
{
    size_t unit = PE_PLAIN_ROW;
    for (size_t t = 0; t < expect->plan->n_tensors; t++)
        if (expect->plan->tensors[t].unit > unit)
            unit = expect->plan->tensors[t].unit;
    return unit;
}

/* Elements [first, first + n) of a tensor of the plan. */
typedef struct run {
    size_t tensor, first, n;
} run;

static pe_status plain_run(pe_expect *expect, run at, double *out, pe_problem *why)
{
    const pe_tensor *tensor = &expect->plan->tensors[at.tensor];
    const size_t bytes = pe_dtype_bytes(tensor->dtype);
    const double sign = expect->guess->distortion.negated ? -1 : 1;
    while (at.n > 0) {
        const size_t skip = at.first % tensor->unit;
        const size_t room = at.n < PE_PLAIN_ROW ? at.n : PE_PLAIN_ROW;
        const size_t units = skip == 0 && room > tensor->unit ? room / tensor->unit : 1;
        const size_t whole = units * tensor->unit - skip, some = whole < at.n ? whole : at.n;
        const pe_region region =
            pe_plan_units(expect->plan, at.tensor, at.first / tensor->unit, units);
        PE_TRY(pe_plan_make_region(expect->plan, &region, expect->filled, why));
        for (size_t e = 0; e < some; e++) {
            const double x =
                pe_dtype_load(tensor->dtype, (const char *)expect->filled + (skip + e) * bytes);
            *out++ = isfinite(x) ? sign * x : x; /* a mask stays one */
        }
        at.first += some;
        at.n -= some;
    }
    return PE_OK;
}

/* Where element `first` of the upload is in the plan, with up to n elements from there on. Row q of
 * every head of a repeated tensor is the head's only row. */
static run find_run(const pe_expect *expect, size_t first, size_t n)
{
    const size_t *at = expect->view->tensor_at, keys = expect->plan->tensors[0].shape.dim[2];
    size_t t = 0;
    if (expect->repeat > 1) {
        const size_t head = first / keys / expect->repeat, key = first % keys;
        return (run){0, head * keys + key, keys - key < n ? keys - key : n};
    }
    while (first >= at[t + 1])
        t++;
    return (run){expect->view->plan_tensor[t], first - at[t],
                 at[t + 1] - first < n ? at[t + 1] - first : n};
}

/* Elements [first, first + n) of the upload by the guess's law, which is computed in float64, 2^-29
 * times as coarse as float32. Its products may be kept in the upload's type on the way, as those of
 * other tables (allowance.h). */
static void take_law(const pe_expect *expect, size_t first, size_t n, const pe_expected_row *out)
{
    const pe_distortion *by = &expect->guess->distortion;
    const double u = pe_upload_view_roundoff(expect->view);
    for (size_t e = 0; e < n && by->law != NULL; e++) {
        double error = 0;
        const double x = by->law(by->law_context, first + e, out->value[e], &error);
        const double size = isfinite(x) ? fabs(x) : 0;
        out->value[e] = x;
        out->exact_error[e] = by->law_gain * out->exact_error[e] +
                              (2 * (1 + u) * u + 0x1p-50) * size + 0x1p-28 * error;
        out->float32_error[e] =
            by->law_gain * out->float32_error[e] + (2 * (1 + u) * u + 0x1p-20) * size + error;
    }
}

pe_status pe_expect_plain(pe_expect *expect, size_t first, size_t n, pe_problem *why)
{
    const pe_expected_row *out = &expect->row;
    const pe_distortion *by = &expect->guess->distortion;
    /* Some laws say what elements are, whatever the claimed ones and their errors. */
    const bool alone = by->law != NULL && by->law_gain == 0;
    const bool scaled_base = strcmp(expect->guess->claim->resource->name, "rope/scaled-base") == 0;
    const char *frequencies = scaled_base ? "scaled_inv_freq" : "inv_freq";
    pe_status status = PE_OK;
    pe_guess_count(expect->guess, n);
    for (size_t done = 0; done < n && status == PE_OK;) {
        const run at = find_run(expect, first + done, n - done);
        const pe_allowance_run of = {.tensor = at.tensor,
                                     .first = at.first,
                                     .n = at.n,
                                     .value = out->value + done,
                                     .of_all = &expect->known_of_all,
                                     .per_position = expect->per_position,
                                     .columns = expect->columns};
        status = alone ? PE_OK : plain_run(expect, at, out->value + done, why);
        if (by->inv_freq != NULL && strcmp(expect->plan->tensors[at.tensor].name, frequencies) == 0)
            memcpy(out->value + done, by->inv_freq + at.first, at.n * sizeof *out->value);
        for (size_t e = 0; e < at.n; e++)
            out->exact_error[done + e] = out->float32_error[done + e] = 0;
        if (status == PE_OK && !alone)
            status = pe_allowance_of_run(expect->guess, expect->plan, &of, out->exact_error + done,
                                         out->float32_error + done, why);
        done += at.n;
    }
    if (status == PE_OK)
        take_law(expect, first, n, out);
    return status;
}
