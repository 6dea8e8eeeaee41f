/* SPDX-License-Identifier: MIT */
/* law_numbers.c - numbers of laws, read off a ladder. */
#include "verify/law_numbers.h"

#include <math.h>

/* Radians over the window, from which on a pair is seen to turn. */
#define LEAST_TURN 0.1

bool pe_law_numbers_scaled(pe_ladder *l)
{
    return pe_ladder_is_scaled(l);
}

bool pe_law_numbers_head(pe_ladder *l)
{
    l->a = (double)l->n / l->head_pairs;
    return l->head_pairs > 0 && l->head_pairs != (double)l->n;
}

bool pe_law_numbers_rotary(pe_ladder *l)
{
    l->a = l->head_pairs / (double)l->n;
    return l->head_pairs > 0 && l->head_pairs != (double)l->n;
}

bool pe_law_numbers_multiple(pe_ladder *l)
{
    l->a = l->measured[0] / l->claimed[0];
    l->b = 1 / l->a;
    return l->span == 0 && isfinite(l->a) && l->a > 0;
}

/* The pair that tells an exponent best: the slowest one that is known. */
static size_t telling_pair(const pe_ladder *l)
{
    size_t i = l->n - 1;
    while (i > 0 && !(l->measured[i] > 0 && fabs(l->measured[i]) * l->span >= 0))
        i--;
    return i;
}

/* A number of four digits where it may be one. */
static double tidy(const pe_ladder *l, double x)
{
    const double digit = pow(10, floor(log10(x)) - 3), round_one = digit * round(x / digit);
    return fabs(round_one - x) <= (2e-6 + 4 * l->roundoff) * x ? round_one : x;
}

bool pe_law_numbers_geometric(pe_ladder *l)
{
    const size_t i = telling_pair(l);
    const double first = l->measured[0], last = l->measured[i] / first;
    const double theta = pow(last, -(double)l->n / (double)i);
    if (l->span > 0 || i == 0 || !(l->theta > 0) || !(isfinite(theta) && theta > 1))
        return false;
    l->a = tidy(l, first);
    l->b = tidy(l, theta);
    return true;
}

static bool read_theta(pe_ladder *l)
{
    if (!pe_law_numbers_geometric(l) || l->a != 1)
        return false;
    l->a = l->b;
    l->b = l->theta;
    return true;
}

bool pe_law_numbers_theta(pe_ladder *l)
{
    return !pe_ladder_is_scaled(l) && read_theta(l);
}

bool pe_law_numbers_unscaled_theta(pe_ladder *l)
{
    return pe_ladder_is_scaled(l) && read_theta(l);
}

/* The slowest pair that has turned well. */
static size_t turned_pair(const pe_ladder *l)
{
    size_t i = l->n - 1;
    while (i > 0 && !(l->measured[i] * l->span > 1))
        i--;
    return i;
}

/* More heads no model has. */
#define MOST_HEADS 1024

bool pe_law_numbers_all_heads(pe_ladder *l)
{
    const size_t i = l->span > 0 ? turned_pair(l) : telling_pair(l);
    const double heads =
        round(log(l->claimed[i] / l->claimed[0]) / log(l->measured[i] / l->claimed[0]));
    l->a = 1 / heads;
    l->b = 2 * heads * (double)l->n;
    return i > 0 && heads >= 3 && heads <= MOST_HEADS && l->b != 2 * l->head_pairs;
}

bool pe_law_numbers_turned_theta(pe_ladder *l)
{
    const size_t i = turned_pair(l);
    if (!(l->span > 0) || i < 2 || !(l->theta > 1))
        return false;
    const double power = log(l->measured[i] / l->claimed[i]) * (double)l->n / (double)i;
    const double theta = l->theta * exp(-power), digit = pow(10, floor(log10(theta)));
    const double one = digit * round(theta / digit), two = digit / 10 * round(10 * theta / digit);
    l->a = fabs(one / theta - 1) < 0.03   ? one
           : fabs(two / theta - 1) < 0.01 ? two
                                          : digit / 1000 * round(1000 * theta / digit);
    l->b = l->theta;
    return isfinite(l->a) && l->a > 1 && fabs(l->a / l->b - 1) > 0.02;
}

bool pe_law_numbers_turned_multiple(pe_ladder *l)
{
    const size_t i = turned_pair(l);
    l->a = l->measured[i] / l->claimed[i];
    l->b = 1 / l->a;
    return l->span > 0 && i > 2 && fabs(l->a - 1) > 0.02 && isfinite(l->b);
}

/* Of so large a number the slowest pair tells most: others turn too far from row to row. */
bool pe_law_numbers_many(pe_ladder *l)
{
    const double times = l->measured[l->n - 1] / l->claimed[l->n - 1];
    const double digit = pow(10, floor(log10(times)));
    l->a = digit * round(times / digit);
    const bool has_number = l->factor > 1 || !(l->theta > 0); /* which is told instead */
    return !has_number && l->held && l->span > 0 && times > 9.5 &&
           fabs(l->a - times) < 0.02 * times;
}

/* Of the pairs whose frequency the first known one may have, the nearest to the mean of all. */
bool pe_law_numbers_one(pe_ladder *l)
{
    double sum = 0, known = 0, least = HUGE_VAL;
    size_t first = l->n;
    for (size_t i = l->n; i-- > 0;)
        if (isfinite(l->measured[i])) {
            sum += l->measured[i];
            known++;
            first = i;
        }
    for (size_t k = 0; k < l->n && first < l->n; k++) {
        const double off = fabs(l->claimed[k] * known - sum);
        if (off >= least || !pe_ladder_is_near(l, first, l->claimed[k]))
            continue;
        least = off;
        l->a = (double)k;
    }
    return least < HUGE_VAL && (l->held || l->span == 0);
}

bool pe_law_numbers_length(pe_ladder *l)
{
    const double n = (double)l->n;
    if (!(l->dynamic_length > 0) || !read_theta(l))
        return false;
    const double grown = pow(l->a / l->theta, (n - 1) / n);
    l->b = l->a;
    const double length = l->dynamic_length * (grown + l->factor - 1) / l->factor;
    l->a = round(length);
    return l->a > l->dynamic_length && fabs(length - l->a) <= (2e-6 + 4 * l->roundoff) * length;
}

/* The base that ntk makes of theta by a factor. */
static double ntk_base(const pe_ladder *l, double factor)
{
    return l->theta * pow(factor, (double)l->n / (double)(l->n - 1));
}

bool pe_law_numbers_ntk_factor(pe_ladder *l)
{
    if (!(l->factor > 1) || !read_theta(l) ||
        fabs(l->claimed[1] * pow(ntk_base(l, l->factor), 1 / (double)l->n) - 1) > 1e-6)
        return false;
    const double factor = pow(l->a / l->theta, (double)(l->n - 1) / (double)l->n);
    l->a = round(2 * factor) / 2;
    l->b = l->factor;
    return l->a > 1 && fabs(factor - l->a) <= (2e-6 + 4 * l->roundoff) * factor;
}

bool pe_law_numbers_listed(pe_ladder *l)
{
    return l->listed;
}

bool pe_law_numbers_exponent_of_factor(pe_ladder *l)
{
    if (!(l->factor > 1) || l->dynamic_length > 0 || !read_theta(l) || !pe_ladder_is_scaled(l))
        return false;
    l->a = log(l->a / l->theta) / log(l->factor);
    l->b = 2 * l->a / (l->a - 1);
    return l->a > 1 && l->a < 2;
}

bool pe_law_numbers_naive(pe_ladder *l)
{
    l->a = l->theta * l->factor;
    l->b = l->factor;
    return l->theta > 0 && l->factor > 1;
}

bool pe_law_numbers_least(pe_ladder *l)
{
    l->a = HUGE_VAL;
    for (size_t i = 0; i < l->n; i++)
        l->a = isfinite(l->measured[i]) ? fmin(l->a, l->measured[i]) : l->a;
    return l->span == 0 && l->a > 0 && pe_ladder_is_near(l, l->n - 2, l->a);
}

bool pe_law_numbers_edge(pe_ladder *l)
{
    size_t i = 0;
    while (i < l->n && pe_ladder_is_near(l, i, l->plain[i]))
        i++;
    l->a = (double)i;
    l->b = 1 / pe_ladder_least_part(l);
    return pe_ladder_is_scaled(l) && i > 0 && i < l->n;
}

/* The first pair of which scaling leaves no more than that. */
static bool read_claimed_edge(pe_ladder *l, double most)
{
    const double least = pe_ladder_least_part(l);
    size_t i = 0;
    while (i < l->n && pe_ladder_part_of(l, i) > most)
        i++;
    l->a = (double)i;
    l->b = 1 / least;
    return least < 1 && i > 0 && i < l->n && !l->listed;
}

bool pe_law_numbers_low_edge(pe_ladder *l)
{
    return read_claimed_edge(l, 1 - 1e-9);
}

bool pe_law_numbers_high_edge(pe_ladder *l)
{
    return read_claimed_edge(l, pe_ladder_least_part(l) * (1 + 1e-9));
}

bool pe_law_numbers_middle_edge(pe_ladder *l)
{
    return read_claimed_edge(l, (1 + pe_ladder_least_part(l)) / 2);
}

bool pe_law_numbers_exchanged(pe_ladder *l)
{
    return l->bands[1] > 0 && pe_law_numbers_high_edge(l);
}

bool pe_law_numbers_rotated_part(pe_ladder *l)
{
    size_t turning = l->n;
    while (turning > 0 && l->claimed[turning - 1] == 0)
        turning--;
    l->a = (double)turning;
    return l->theta > 0 && turning > 1 && turning < l->n;
}

/* Does the part of the frequencies that scaling leaves fall in a line from pair `first` to `last`:
 * by pair, as that of yarn, or by frequency, as that of llama3? */
static bool falls_in_line(const pe_ladder *l, size_t first, size_t last, bool by_pair)
{
    const double least = pe_ladder_least_part(l);
    const double *x = l->plain, start = by_pair ? (double)first - 1 : x[first - 1];
    const double end = by_pair ? (double)last : x[last];
    for (size_t i = first; i < last; i++) {
        const double along = ((by_pair ? (double)i : x[i]) - start) / (end - start);
        const double slack = 1 / (double)(last - first + 1), part = l->measured[i] / x[i];
        if (isfinite(part) && fabs(part - 1 + along * (1 - least)) > slack)
            return false;
    }
    return true;
}

bool pe_law_numbers_bands(pe_ladder *l)
{
    size_t first = 0, last = l->n;
    const double least = pe_ladder_least_part(l);
    while (first < l->n && pe_ladder_is_near(l, first, l->plain[first]))
        first++;
    while (last > first && pe_ladder_is_near(l, last - 1, l->plain[last - 1] * least))
        last--;
    l->a = (double)first;
    l->b = (double)last;
    return pe_ladder_is_scaled(l) && first > 0 && last < l->n && last - first <= l->n / 2 &&
           (falls_in_line(l, first, last, true) || falls_in_line(l, first, last, false));
}

bool pe_law_numbers_rest(pe_ladder *l)
{
    size_t first = l->n, last = 0;
    for (size_t i = 0; i < l->n; i++)
        if (fabs(l->measured[i]) < fabs(l->claimed[i]) / 50 &&
            (l->span == 0 || fabs(l->claimed[i]) * l->span > LEAST_TURN)) {
            first = i < first ? i : first;
            last = i;
        }
    while (l->span > 0 && first <= last && last + 1 < l->n &&
           fabs(l->claimed[last + 1]) * l->span <= LEAST_TURN)
        last++; /* the slowest pairs tell nothing */
    l->a = (double)first;
    l->b = (double)last;
    return first <= last && (first > 0 || last + 1 < l->n);
}

bool pe_law_numbers_last_half(pe_ladder *l)
{
    l->a = floor((double)l->n / 2);
    l->b = (double)(l->n - 1);
    return true;
}
