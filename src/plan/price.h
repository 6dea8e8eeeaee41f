/* SPDX-License-Identifier: MIT */
/* price.h - what a request costs, in units of work, before any of it is spent. */
#ifndef PE_PLAN_PRICE_H
#define PE_PLAN_PRICE_H

#include <stdint.h>

#include "base/status.h"
#include "plan/values.h"

/**
 * A unit of work is what an element of a plain table costs with its text: about ten nanoseconds of
 * one core. So 10^8 units take a second. Prices are reckoned from parameters and shapes, never from
 * a clock: the same request has the same price on every machine. Sums stop at UINT64_MAX.
 */
#define PE_PRICE_UNITS_PER_MS ((uint64_t)100000)

/** Bounds a plan is checked against. */
typedef struct pe_limits {
    size_t max_elements;
    uint64_t max_work; /* 0: any */
} pe_limits;

/** What each part of the work on one request costs. */
typedef struct pe_price {
    uint64_t reading;   /* the bytes of a body */
    uint64_t planning;  /* frequencies and slopes in MPFR, by the rows; listed positions */
    uint64_t computing; /* elements of the answer, and their text */
    uint64_t coding;    /* gzip or zstd of its bytes; samples that choose one are bounded */
} pe_price;

uint64_t pe_price_sum(const pe_price *price);

/** a * b and a + b, or UINT64_MAX where that is more. */
uint64_t pe_price_times(uint64_t a, uint64_t b);
uint64_t pe_price_plus(uint64_t a, uint64_t b);

/**
 * The price as far as the parameters tell it, in less than a microsecond. `planning` is exact.
 * `computing` is the product of the lengths of the axes that rows tell (positions, channels, heads,
 * queries, keys), or the number of elements that came in tensors. An element counts as 1 here, so
 * the plan's own price is higher where elements are expensive, and lower where a tensor is a part.
 * What is charged by this estimate is settled once the plan is made.
 */
pe_price pe_price_estimate(const pe_values *values);

/** Is this much work allowed?   Errors  TOO_MUCH_WORK. */
pe_status pe_price_check(uint64_t work, uint64_t max_work, pe_problem *why) PE_MUST_CHECK;

#endif
