/* SPDX-License-Identifier: MIT */
/* median.c - the middle of many numbers. */
#include "verify/mistakes/median.h"

static void swap(double *a, double *b)
{
    const double x = *a;
    *a = *b;
    *b = x;
}

/* Put the first, the middle one and the last in order: the middle one. */
static double pivot_of(double *list, ptrdiff_t low, ptrdiff_t high)
{
    double *first = &list[low], *half = &list[low + (high - low) / 2], *last = &list[high];
    if (*half < *first)
        swap(half, first);
    if (*last < *half)
        swap(last, half);
    if (*half < *first)
        swap(half, first);
    return *half;
}

/* Hoare's selection: only the part that holds the middle is divided again. */
double pe_median(double *list, size_t n)
{
    const ptrdiff_t middle = (ptrdiff_t)n / 2;
    ptrdiff_t low = 0, high = (ptrdiff_t)n - 1;
    while (low < high) {
        const double pivot = pivot_of(list, low, high);
        ptrdiff_t i = low, k = high;
        while (i <= k) {
            while (list[i] < pivot)
                i++;
            while (pivot < list[k])
                k--;
            if (i <= k)
                swap(&list[i++], &list[k--]);
        }
        if (i > middle && k < middle)
            break;
        low = i <= middle ? i : low;
        high = k >= middle ? k : high;
    }
    return n > 0 ? list[middle] : nan("");
}
