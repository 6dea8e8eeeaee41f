/* SPDX-License-Identifier: MIT */
/* numbers.c - an upload of plain numbers beside the claimed ones, for what reads them. */
#include "verify/search/numbers.h"

#include <math.h>
#include <string.h>

#include "base/yield.h"
#include "plan/real.h"
#include "plan/resource.h"
#include "verify/mistakes/lookup.h"

/* A row's function of an element: a quotient, a logarithm or a few comparisons. */
#define ELEMENT_UNITS 2

void pe_numbers_spend(const pe_numbers *plain, size_t work)
{
    pe_yield_spend(ELEMENT_UNITS * work);
    plain->search->work += work;
}

const char *pe_numbers_resource(const pe_numbers *plain)
{
    return plain->lookup != NULL ? plain->lookup->resource : plain->view->claim->resource->name;
}

bool pe_numbers_goes_on(const pe_numbers *plain)
{
    return plain->asked && !pe_attempts_spent(plain->search);
}

/* The parameters of a finding tell the number of a cause that is one of them. A table that is looked
 * up has rows for the claimed ones alone. */
static void set_param(const pe_numbers *plain, pe_guess *guess, const pe_numbers_cause *cause)
{
    pe_value *value =
        cause->fault->param != NULL ? pe_values_find(&guess->values, cause->fault->param) : NULL;
    if (plain->lookup != NULL)
        return;
    if (value != NULL && value->param->kind == PE_KIND_INT)
        value->integer = (int64_t)cause->a;
    else if (value != NULL)
        value->real = cause->a;
}

static void say_cause(const pe_numbers *plain, pe_guess *guess, const pe_numbers_cause *cause)
{
    pe_guess_tell(guess, cause->fault, cause->a, cause->b);
    pe_buffer_str(&guess->rule, cause->more != NULL ? cause->more : "");
    set_param(plain, guess, cause);
    guess->fitted |= cause->fitted;
}

/* A law of numbers that a cause before it has made, or of indices. */
typedef struct behind {
    const pe_numbers *plain;
    const pe_numbers_law *law;
} behind;

static double at_behind(const void *context, size_t element, double claimed PE_UNUSED,
                        double *error)
{
    const behind *b = context;
    const pe_numbers *plain = b->plain;
    const size_t at = element % plain->elements;
    const double x = b->law->at(b->law->context, at, plain->claimed[at], error);
    return plain->lookup != NULL ? pe_lookup_at(plain->lookup, element, x) : x;
}

void pe_numbers_try(const pe_numbers *plain, const pe_numbers_cause *cause,
                    const pe_numbers_law *law)
{
    pe_guess guess;
    pe_search *s = plain->search;
    const behind of = {plain, law};
    const bool other = plain->before != NULL || plain->lookup != NULL;
    const size_t causes = plain->before != NULL ? 2 : 1;
    if (plain->claim->n_faults + causes > PE_FAULTS_MAX ||
        !pe_attempts_did(s, pe_guess_copy(plain->claim, &guess, s->why)))
        return;
    if (plain->frequency == NULL) {
        guess.distortion.law = other ? at_behind : law->at;
        guess.distortion.law_context = other ? &of : law->context;
        guess.distortion.law_gain = plain->lookup != NULL ? 0 : law->gain;
    }
    if (plain->before != NULL)
        say_cause(plain, &guess, plain->before);
    say_cause(plain, &guess, cause);
    if (plain->frequency == NULL || law->apply(law->context, &guess))
        pe_attempts_try(s, &guess);
    pe_guess_free(&guess);
}

bool pe_numbers_is_near(const pe_numbers *plain, double got, double x)
{
    const double size = (4 * plain->roundoff + 0x1p-18) * fabs(x) + plain->step;
    return got == x || (isfinite(x) && fabs(got - x) <= size);
}

bool pe_numbers_change(const pe_numbers *plain, const double *numbers, size_t times)
{
    size_t n = 0;
    for (size_t e = 1; e < plain->elements && n < times; e++)
        n += isfinite(numbers[e]) && numbers[e] != numbers[e - 1];
    return n == times;
}

void pe_numbers_list(const pe_numbers *plain, const char *name, const double *list, size_t n)
{
    enum { MOST = 64 };
    pe_buffer *out = &plain->search->report->facts.json, begin = {0};
    pe_buffer_format(&begin, "\"%s\":[", name);
    const bool told = out->bytes > 0 && strstr(pe_buffer_text(out), pe_buffer_text(&begin)) != NULL;
    if (!told && out->bytes > 0)
        pe_buffer_str(out, ",");
    if (!told)
        pe_buffer_str(out, pe_buffer_text(&begin));
    pe_buffer_free(&begin);
    if (told)
        return;
    for (size_t i = 0; i < n && i < MOST; i++) {
        pe_buffer_str(out, i == 0 ? "" : ",");
        if (isfinite(list[i]))
            pe_real_print(list[i], out);
        else
            pe_buffer_str(out, "null");
    }
    pe_buffer_str(out, "]");
}
