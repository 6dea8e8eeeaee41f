/* SPDX-License-Identifier: MIT */
/* exposition.h - metrics as text: Prometheus' format 0.0.4, and OpenMetrics 1.0.0. */
#ifndef PE_HTTP_PAGES_EXPOSITION_H
#define PE_HTTP_PAGES_EXPOSITION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "http/request/histogram.h"

typedef enum pe_metric_type {
    PE_METRIC_COUNTER,
    PE_METRIC_GAUGE,
    PE_METRIC_SUMMARY, /* a sum and a count, no quantiles */
    PE_METRIC_HISTOGRAM
} pe_metric_type;

/** The name is without the _total of counters. One that ends in _seconds or _bytes has that
 * unit. */
typedef struct pe_metric {
    const char *name;
    pe_metric_type type;
    const char *help;
} pe_metric;

typedef struct pe_exposition {
    pe_buffer *out;
    bool open_metrics;
} pe_exposition;

/** Before the samples of the metric, which follow without others in between. */
void pe_exposition_head(const pe_exposition *to, const pe_metric *metric);

/* A sample. labels: name="value" with commas between them, or "". */

void pe_exposition_count(const pe_exposition *to, const pe_metric *metric, const char *labels,
                         uint64_t value);
void pe_exposition_real(const pe_exposition *to, const pe_metric *metric, const char *labels,
                        double value);
void pe_exposition_summary(const pe_exposition *to, const pe_metric *metric, const char *labels,
                           uint64_t sum, uint64_t count);
/** bucket: as in pe_tally_sum. */
void pe_exposition_histogram(const pe_exposition *to, const pe_metric *metric, const char *labels,
                             const uint64_t *bucket, uint64_t nanoseconds);

/** After the last metric. */
void pe_exposition_end(const pe_exposition *to);

#endif
