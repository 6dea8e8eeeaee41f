/* SPDX-License-Identifier: MIT */
/* histogram.c - the bounds of buckets. */
#include "http/request/histogram.h"

#define US(n) ((int64_t)(n)*1000)
#define MS(n) US((n)*1000)

const int64_t pe_histogram_bounds[PE_HISTOGRAM_BOUNDS] = {
    US(50), US(100), US(250), US(500), MS(1),    US(2500), MS(5),    MS(10),   MS(25),
    MS(50), MS(100), MS(250), MS(500), MS(1000), MS(2500), MS(5000), MS(10000)};
