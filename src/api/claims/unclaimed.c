/* SPDX-License-Identifier: MIT */
/* unclaimed.c - an upload of which nobody says what it is, held against usual tables. */
#include "api/claims/claim.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/claims/verify_report.h"
#include "formats/json_write.h"

/* Usual tables, the more usual first. `searched`: faults are looked for where none matches. Sizes
 * follow from the shape of the upload. */
static const struct {
    const char *parameters;
    bool searched;
} usual[] = {
    {"encoding=sinusoidal", true},
    {"encoding=sinusoidal&layout=sin_cos", true},
    {"encoding=sinusoidal&layout=cos_sin", false},
    {"encoding=sinusoidal&layout=sin_cos&freq_shift=1", false},
    {"encoding=sinusoidal&layout=cos_sin&freq_shift=1", false},
    {"encoding=rope&pairing=half", true},
    {"encoding=rope&pairing=interleaved", false},
    {"encoding=rope&pairing=half&rope_theta=500000", false},
    {"encoding=rope&pairing=interleaved&rope_theta=500000", false},
    {"encoding=rope&pairing=half&rope_theta=1000000", false},
    {"encoding=rope&pairing=interleaved&rope_theta=1000000", false},
    {"encoding=alibi", true},
    {"encoding=alibi&form=causal", false},
    {"encoding=alibi&form=key", false},
    {"encoding=alibi/slopes", true},
    {"encoding=t5/buckets", true},
    {"encoding=t5/buckets&bidirectional=false", false},
};

static bool at_once(void *context PE_UNUSED)
{
    return true;
}

void pe_unclaimed_free(pe_claim *claim)
{
    if (claim != NULL)
        pe_verify_claim_free(claim);
    free(claim);
}

/* The best so far; and what there is to say of each, those of fewer faults first. */
typedef struct best {
    pe_claim *claim;  /* owned; NULL: there is none */
    pe_report report; /* points into the claim, which is not to be moved */
    size_t n_readings, faults[PE_LEN(usual)];
    pe_buffer readings[PE_LEN(usual)]; /* owned */
    bool refused;
    pe_problem first, last; /* of the usual tables that were refused */
} best;

static void add_reading(best *to, const pe_claim *claim, const pe_report *report)
{
    pe_buffer made = {0};
    size_t at = to->n_readings++;
    const size_t faults = pe_report_faults(report);
    pe_buffer_str(&made, "{");
    pe_json_write_text(&made, "encoding", claim->resource->name);
    pe_json_write_truth(&made, "matches", report->matches);
    pe_json_write_name(&made, "parameters");
    pe_buffer_str(&made, report->parameters);
    pe_json_write_text(&made, "evidence",
                       report->matches          ? pe_report_conclusion(report)
                       : report->n_findings > 0 ? report->findings[0].rule
                                                : "no known faults explain it");
    pe_buffer_str(&made, "}");
    for (; at > 0 && to->faults[at - 1] > faults; at--) {
        to->readings[at] = to->readings[at - 1];
        to->faults[at] = to->faults[at - 1];
    }
    to->readings[at] = made;
    to->faults[at] = faults;
}

static void best_free(best *of)
{
    if (of->claim != NULL)
        pe_verify_report_free(&of->report);
    pe_unclaimed_free(of->claim);
    of->claim = NULL;
}

/* One usual table. What has not its shape is passed over. */
static pe_status try_usual(size_t u, pe_unclaimed_read *read, void *of,
                           const pe_verify_context *context, bool all, best *to, pe_problem *why)
{
    pe_report report;
    pe_problem refused;
    pe_claim *claim = calloc(1, sizeof *claim);
    if (claim == NULL)
        return pe_fail_memory(why);
    pe_status status = read(of, usual[u].parameters, claim, &refused);
    if (status == PE_OK)
        status = pe_verify(claim, context, &report, &refused);
    if (status != PE_OK)
        pe_unclaimed_free(claim);
    if (pe_status_is_ours(status) || status == PE_TOO_MUCH_WORK) {
        *why = refused;
        return status;
    }
    if (status != PE_OK) {
        to->first = to->refused ? to->first : refused;
        to->last = refused;
        to->refused = true;
        return PE_OK;
    }
    if (all || report.matches)
        add_reading(to, claim, &report);
    const bool searched = to->claim != NULL && !to->report.complete && report.complete;
    if (to->claim != NULL && !searched &&
        pe_report_faults(&report) >= pe_report_faults(&to->report)) {
        pe_verify_report_free(&report);
        pe_unclaimed_free(claim);
        return PE_OK;
    }
    best_free(to); /* it is better */
    to->claim = claim;
    to->report = report;
    return PE_OK;
}

/* All have one bound, `most`: where it is reached, the best so far is told. */
static pe_status try_each(pe_unclaimed_read *read, void *of, const pe_verify_context *context,
                          const pe_verify_limits *most, best *to, pe_problem *why)
{
    const bool searches = context->bounds == most;
    pe_status status = PE_OK;
    for (size_t u = 0; u < PE_LEN(usual) && status == PE_OK; u++)
        if (!searches || (usual[u].searched && !most->given_up(most->context)))
            status = try_usual(u, read, of, context, searches, to, why);
    if (to->claim == NULL || !most->given_up(most->context))
        return status;
    to->report.complete = false;
    return status == PE_TOO_MUCH_WORK ? PE_OK : status;
}

/* No usual table fits. What is wrong with the numbers themselves, the first and the last say alike;
 * the last has no sizes that they leave open. */
static pe_status fail_all(const best *to, pe_problem *why)
{
    const pe_problem *first = &to->first, *last = &to->last;
    const bool unknown = last->status == PE_UNKNOWN_PARAMETER;
    bool alike = strcmp(first->detail, last->detail) == 0;
    for (unsigned m = 0; m < first->n_others; m++)
        alike |= strcmp(first->others[m].detail, last->detail) == 0;
    if (alike && !unknown)
        return pe_fail(why, last->status, last->where, "%s", last->detail);
    return pe_fail(why, PE_MISSING_PARAMETER, "encoding",
                   "encoding is required: %s%s of a usual table (sinusoidal, rope, alibi, t5)",
                   unknown ? last->where : "the upload has not the shape, or the tensors,",
                   unknown ? " is no parameter" : "");
}

pe_status pe_unclaimed_verify(pe_unclaimed_read *read, void *of, const pe_verify_context *context,
                              pe_claim **claim, pe_report *report, pe_buffer *readings,
                              pe_problem *why)
{
    pe_verify_limits no_search = *context->bounds;
    pe_verify_context compares = *context;
    best *to = calloc(1, sizeof *to);
    if (to == NULL)
        return pe_fail_memory(why);
    no_search.given_up = at_once;
    compares.bounds = &no_search;
    compares.glances = true;
    pe_status status = try_each(read, of, &compares, context->bounds, to, why);
    if (status == PE_OK && to->claim != NULL && !to->report.matches)
        status = try_each(read, of, context, context->bounds, to, why);
    if (status == PE_OK && to->claim == NULL)
        status = fail_all(to, why);
    for (size_t r = 0; r < to->n_readings; r++) {
        pe_buffer_str(readings, r > 0 ? "," : "");
        pe_buffer_add(readings, to->readings[r].data, to->readings[r].bytes);
        readings->failed |= to->readings[r].failed;
        pe_buffer_free(&to->readings[r]);
    }
    if (status == PE_OK) {
        pe_claim_report(&to->claim->reported,
                        to->report.matches
                            ? "nobody says what the upload is: it was held against "
                              "%zu usual tables"
                            : "nobody says what the upload is, and it is none of %zu "
                              "usual tables: this one is nearest",
                        PE_LEN(usual));
        *claim = to->claim;
        *report = to->report;
    } else {
        best_free(to);
    }
    free(to);
    return status;
}
