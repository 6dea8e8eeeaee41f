/* SPDX-License-Identifier: MIT */
/* laws.c - which laws the measured frequencies follow. */
#include "verify/laws.h"

#include <math.h>

#include "verify/law_rows.h"

/* Is a pair so fast that float32 angles do not resolve its turns? Where many are, it is not seen
 * which way pairs turn, and elements tell. */
static bool is_wild(const pe_ladder *l, double w)
{
    return l->held && fabs(w) * l->span > 0x1p10;
}

static bool follows(pe_ladder *l, const pe_law *of)
{
    size_t good = 0, back = 0, known = 0, telling = 0, wild = 0;
    for (size_t i = 0; i < l->n && (known - good) * 20 <= l->n + back * 20; i++) {
        const double w = of->predict(l, i);
        wild += is_wild(l, w);
        if (isnan(l->measured[i]) || !isfinite(w) || is_wild(l, w))
            continue;
        known++;
        good += pe_ladder_is_near(l, i, w);
        back += pe_ladder_is_near(l, i, -w);
        telling += pe_ladder_is_near(l, i, w) && !pe_ladder_is_near(l, i, l->claimed[i]);
    }
    if (l->span == 0)
        return good + (of->but_one && l->n > 8) >= l->n && telling > 0;
    /* scaling that the rows hardly tell: elements will */
    const bool rests = of->read == pe_law_numbers_rest;
    const bool unseen = l->held && (of->subtle || of->read == pe_law_numbers_scaled);
    const size_t least = unseen || l->faint || wild * 4 > l->n ? 0 : rests ? 1 : 2;
    good = wild * 4 > l->n && back > good ? back : good;
    l->untold = wild * 4 > l->n && good < 2;
    return (known + wild) * 5 >= l->n * 4 && good * 20 >= known * 19 && telling >= least;
}

static double put_of(const pe_ladder *l, const pe_law *of, size_t i)
{
    const double w = of->predict(l, i);
    return of->but_one && l->span == 0 && !pe_ladder_is_near(l, i, w) ? l->measured[i] : w;
}

/* The ladder takes the law's numbers. */
static bool takes(pe_ladder *l, const pe_law *of)
{
    l->a = of->a;
    l->b = of->b;
    return (of->read == NULL || of->read(l)) && follows(l, of);
}

bool pe_laws_next(pe_ladder *l, size_t *k, pe_guess *guess)
{
    if (l->n < 4 || guess->n_faults >= PE_FAULTS_MAX)
        return false;
    while (*k < pe_law_rows_n) {
        const pe_law *of = &pe_law_rows[(*k)++];
        if (!takes(l, of))
            continue;
        for (size_t i = 0; i < l->n; i++)
            l->put[i] = put_of(l, of, i);
        guess->distortion.ladder = l->put;
        guess->distortion.ladder_pairs = l->n;
        guess->distortion.values_inexact = true;
        guess->fitted |= of->fitted || l->untold;
        pe_guess_say(guess, &of->fault, of->fault.remedy);
        pe_guess_format(guess, of->fault.rule, l->a, l->b);
        return true;
    }
    return false;
}

/* A fault of a guess is the first member of its law. */
bool pe_laws_is_fitted(const pe_fault *fault)
{
    return ((const pe_law *)fault)->fitted;
}

bool pe_laws_is_subtle(const pe_fault *fault)
{
    return ((const pe_law *)fault)->subtle;
}

bool pe_laws_is_one_number(pe_ladder *ladder)
{
    static const pe_law rough[] = {
        {.read = pe_law_numbers_turned_multiple, .predict = pe_predict_times},
        {.read = pe_law_numbers_turned_theta, .predict = pe_predict_of_ratio}};
    return takes(ladder, &rough[0]) || takes(ladder, &rough[1]);
}
