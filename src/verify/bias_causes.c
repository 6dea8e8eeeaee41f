/* SPDX-License-Identifier: MIT */
/* bias_causes.c - linear biases of attention: which slopes and which distances made them. */
#include "verify/bias_causes.h"

#include <math.h>
#include <string.h>

#include "verify/slope_rules.h"

/* ---- explaining ---- */

static const pe_fault mask_value = {"mask_value", "masked keys hold {a}, not the claimed mask {b}",
                                    .remedy = "fill masked keys with the claimed mask value"};

/* Which distances, and the rules of slopes that lead to bias->made. */
typedef struct bias_law {
    pe_bias *bias;
    const pe_bias_rule *rule;
    double a;
    bool fitted; /* whether rules of slopes are asked for that only fit numbers */
    size_t n;
    pe_numbers_cause slopes[2];
    size_t *found;
} bias_law;

static double at_law(const void *context, size_t e, double claimed, double *error)
{
    (void)error;
    const bias_law *by = context;
    const pe_bias *bias = by->bias;
    const size_t key = e % bias->keys, row = e / bias->keys;
    const double query = bias->first + (double)(row % bias->queries);
    const double d = by->rule->at(bias, query, (double)key, by->a);
    (void)claimed;
    return isnan(d) ? bias->mask : 0.0 - bias->made[row / bias->queries] * d;
}

static pe_status try_law(const bias_law *by, pe_problem *why)
{
    const pe_bias *bias = by->bias;
    if (!pe_slope_rules_hold(bias))
        return PE_OK;
    ++*by->found;
    const bool other = by->rule->fault.name[0] != '\0';
    const bool masked = pe_numbers_is_near(bias->of, bias->mask, bias->claimed_mask);
    const pe_numbers_cause causes[] = {
        {other ? &by->rule->fault : NULL, by->a, 0, false},
        by->slopes[0],
        by->slopes[1],
        {masked ? NULL : &mask_value, bias->mask, bias->claimed_mask, false}};
    return pe_numbers_try(bias->of, causes, PE_LEN(causes), &(pe_numbers_law){at_law, by, 0}, why);
}

/* What a rule made is claimed for the next one. */
static void take_made(pe_bias *bias)
{
    double *claimed = bias->claimed;
    bias->claimed = bias->made;
    bias->made = bias->spare;
    bias->spare = claimed;
}

static void give_back(pe_bias *bias)
{
    double *claimed = bias->spare;
    bias->spare = bias->made;
    bias->made = bias->claimed;
    bias->claimed = claimed;
}

/* Has another reader found more than numbers that fit? */
static bool is_named(const pe_bias *bias)
{
    const pe_report *report = bias->of->search->report;
    return report->n_findings > 0 && !report->findings[0].fitted;
}

/* So many rules of slopes more, of those from `first` on. */
static pe_status try_slopes(bias_law by, size_t first, size_t more, pe_problem *why)
{
    pe_status status = PE_OK;
    const bool known = is_named(by.bias);
    const size_t at = by.n++;
    if (more == 0)
        return try_law(&by, why);
    for (size_t r = first; r < pe_slope_rules_n && status == PE_OK; r++) {
        const pe_slope_rule *rule = &pe_slope_rules[r];
        if ((rule->rest && (known || *by.found > 0)) || rule->fitted != by.fitted ||
            !pe_slope_rules_make(rule, by.bias, &by.slopes[at]))
            continue;
        if (more > 1)
            take_made(by.bias);
        status = try_slopes(by, r + 1, more - 1, why);
        if (more > 1)
            give_back(by.bias);
    }
    return status;
}

/* Behind a rule that undoes itself: rules before it read what it would have been made of. */
static pe_status try_behind(bias_law by, const pe_slope_rule *last, pe_problem *why)
{
    pe_bias *bias = by.bias;
    pe_status status = PE_OK;
    double *const read = bias->read, *const undone = bias->undone;
    by.n = 2;
    for (const pe_slope_rule *rule = pe_slope_rules; rule < last && status == PE_OK; rule++) {
        bias->read = undone;
        const bool made =
            !rule->rest && !rule->fitted && pe_slope_rules_make(rule, bias, &by.slopes[0]);
        bias->read = read;
        if (!made)
            continue;
        take_made(bias);
        if (pe_slope_rules_make(last, bias, &by.slopes[1]))
            status = try_law(&by, why);
        give_back(bias);
    }
    return status;
}

static pe_status try_undone(const bias_law *by, pe_problem *why)
{
    pe_bias *bias = by->bias;
    pe_numbers_cause cause;
    pe_status status = PE_OK;
    for (size_t r = 0; r < pe_slope_rules_n && status == PE_OK; r++) {
        double *const claimed = bias->claimed;
        if (!pe_slope_rules[r].undoes)
            continue;
        bias->claimed = bias->read;
        const bool made = pe_slope_rules_make(&pe_slope_rules[r], bias, &cause);
        bias->claimed = claimed;
        memcpy(bias->undone, bias->made, bias->heads * sizeof *bias->made);
        if (made)
            status = try_behind(*by, &pe_slope_rules[r], why);
    }
    return status;
}

/* By a rule of distances, and so many of slopes. */
static pe_status explain_by(const bias_law *by, size_t more, pe_problem *why)
{
    pe_bias *bias = by->bias;
    /* numbers that were read tell nothing where each was read off the one element that it gives */
    if (!pe_bias_follows(bias, by->rule, by->a) ||
        (by->fitted && pe_bias_evidence(bias, by->rule, by->a) < 3))
        return PE_OK;
    memcpy(bias->made, bias->claimed, bias->heads * sizeof *bias->made);
    const pe_status status = try_slopes(*by, 0, more, why);
    return status == PE_OK && more == 2 && *by->found == 0 ? try_undone(by, why) : status;
}

/* So many causes, of distances and of slopes; or distances, and numbers that fit the slopes. */
static pe_status explain_in(pe_bias *bias, size_t causes, bool fitted, size_t *found,
                            pe_problem *why)
{
    pe_status status = PE_OK;
    for (size_t r = 0; r < pe_bias_rules_n && status == PE_OK; r++) {
        const size_t distances = r == 0 ? 0 : 1;
        const bias_law by = {.bias = bias,
                             .rule = &pe_bias_rules[r],
                             .a = bias->number[r],
                             .fitted = fitted,
                             .found = found};
        if (r == 1 && *found > 0) /* distances are as claimed: others change nothing here */
            break;
        if (!isnan(by.a) && causes >= distances && pe_numbers_goes_on(bias->of))
            status = explain_by(&by, fitted ? 1 : causes - distances, why);
    }
    return status;
}

static pe_status explain(pe_bias *bias, pe_problem *why)
{
    enum { MOST = 2 };
    size_t found = 0;
    pe_status status = PE_OK;
    for (size_t n = 0; n <= MOST && found == 0 && status == PE_OK; n++)
        if (n < MOST || !is_named(bias))
            status = explain_in(bias, n, false, &found, why);
    if (found == 0 && status == PE_OK && !is_named(bias))
        status = explain_in(bias, MOST, true, &found, why);
    return status;
}

/* Which rules of distances hold, and their numbers. */
static void read_rules(pe_bias *bias)
{
    for (size_t r = 0; r < pe_bias_rules_n; r++) {
        const pe_bias_rule *rule = &pe_bias_rules[r];
        const bool asked = r == 0 || bias->form != PE_BIAS_SLOPES;
        const double a = !asked ? nan("") : rule->read != NULL ? rule->read(bias) : 0;
        bias->number[r] = !isnan(a) && pe_bias_follows(bias, rule, a) ? a : nan("");
    }
}

/* ---- facts ---- */

static void say_slopes(const pe_bias *bias, const pe_fault *distances, double a)
{
    enum { MOST = 4 };
    pe_buffer *out = &pe_numbers_facts(bias->of)->text;
    pe_buffer_str(out, "Slopes of the heads are ");
    for (size_t h = 0; h < bias->heads && h < MOST; h++)
        pe_buffer_format(out, "%s%.6g", h == 0 ? "" : ", ", bias->read[h]);
    pe_buffer_format(out, "%s. ", bias->heads > MOST ? ", and so on" : "");
    if (bias->form == PE_BIAS_SLOPES)
        return;
    if (distances->name[0] == '\0') {
        pe_buffer_str(out, "Distances are as claimed. ");
        return;
    }
    pe_guess said = {.n_faults = 0};
    pe_guess_format(&said, distances->rule, a, 0);
    pe_buffer_format(out, "Of distances: %s. ", pe_buffer_text(&said.rule));
    pe_buffer_free(&said.rule);
}

/* By the first rule that the upload follows. */
static void tell(pe_bias *bias)
{
    size_t r = 0;
    while (r < pe_bias_rules_n && isnan(bias->number[r]))
        r++;
    if (r == pe_bias_rules_n || !pe_bias_follows(bias, &pe_bias_rules[r], bias->number[r]))
        return;
    const char *name = r == 0 ? "claimed" : pe_bias_rules[r].fault.name;
    say_slopes(bias, &pe_bias_rules[r].fault, bias->number[r]);
    pe_numbers_list(bias->of, "slopes", bias->read, bias->heads);
    pe_numbers_list(bias->of, "claimed_slopes", bias->claimed, bias->heads);
    pe_buffer_format(&pe_numbers_facts(bias->of)->json, ",\"distances\":\"%s\"", name);
}

pe_status pe_bias_causes_find(const pe_numbers *plain, pe_problem *why)
{
    pe_bias bias;
    pe_status status = pe_bias_make(plain, &bias, why);
    if (status != PE_OK)
        return status;
    read_rules(&bias);
    tell(&bias);
    status = explain(&bias, why);
    pe_bias_free(&bias);
    return status;
}
