/* SPDX-License-Identifier: MIT */
/* exposition.c - metrics as text: Prometheus' format 0.0.4, and OpenMetrics 1.0.0. */
#include "http/pages/exposition.h"

#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"

static const char *const types[] = {
    [PE_METRIC_COUNTER] = "counter",
    [PE_METRIC_GAUGE] = "gauge",
    [PE_METRIC_SUMMARY] = "summary",
    [PE_METRIC_HISTOGRAM] = "histogram",
};

static const char *total(const pe_metric *metric)
{
    return metric->type == PE_METRIC_COUNTER ? "_total" : "";
}

static const char *unit_of(const pe_metric *metric)
{
    static const char *const units[] = {"seconds", "bytes"};
    const char *last = strrchr(metric->name, '_');
    for (size_t i = 0; last != NULL && i < PE_LEN(units); i++)
        if (strcmp(last + 1, units[i]) == 0)
            return units[i];
    return NULL;
}

/* OpenMetrics gives the name of a counter without _total. */
void pe_exposition_head(const pe_exposition *to, const pe_metric *metric)
{
    const char *end = to->open_metrics ? "" : total(metric);
    const char *unit = unit_of(metric);
    pe_buffer_format(to->out, "# HELP %s%s %s\n# TYPE %s%s %s\n", metric->name, end, metric->help,
                     metric->name, end, types[metric->type]);
    if (to->open_metrics && unit != NULL)
        pe_buffer_format(to->out, "# UNIT %s %s\n", metric->name, unit);
}

/* Up to the value. */
static void name(const pe_exposition *to, const pe_metric *metric, const char *end,
                 const char *labels)
{
    pe_buffer_format(to->out, *labels != '\0' ? "%s%s{%s} " : "%s%s%s ", metric->name, end, labels);
}

void pe_exposition_count(const pe_exposition *to, const pe_metric *metric, const char *labels,
                         uint64_t value)
{
    name(to, metric, total(metric), labels);
    pe_buffer_format(to->out, "%" PRIu64 "\n", value);
}

void pe_exposition_real(const pe_exposition *to, const pe_metric *metric, const char *labels,
                        double value)
{
    name(to, metric, total(metric), labels);
    pe_buffer_format(to->out, "%.17g\n", value);
}

static void write_count(const pe_exposition *to, const pe_metric *metric, const char *labels,
                        uint64_t count)
{
    name(to, metric, "_count", labels);
    pe_buffer_format(to->out, "%" PRIu64 "\n", count);
}

void pe_exposition_summary(const pe_exposition *to, const pe_metric *metric, const char *labels,
                           uint64_t sum, uint64_t count)
{
    name(to, metric, "_sum", labels);
    pe_buffer_format(to->out, "%" PRIu64 "\n", sum);
    write_count(to, metric, labels, count);
}

/* A bound in seconds. To OpenMetrics it is a number that shows its point. */
static void write_bound(const pe_exposition *to, size_t bucket)
{
    if (bucket == PE_HISTOGRAM_BOUNDS) {
        pe_buffer_str(to->out, "+Inf");
        return;
    }
    const int64_t bound = pe_histogram_bounds[bucket];
    const bool whole = bound % PE_NANOSECONDS_PER_SECOND == 0;
    pe_buffer_format(to->out, "%g%s", (double)bound / PE_NANOSECONDS_PER_SECOND,
                     whole && to->open_metrics ? ".0" : "");
}

void pe_exposition_histogram(const pe_exposition *to, const pe_metric *metric, const char *labels,
                             const uint64_t *bucket, uint64_t nanoseconds)
{
    uint64_t count = 0;
    for (size_t b = 0; b <= PE_HISTOGRAM_BOUNDS; b++) {
        count += bucket[b];
        pe_buffer_format(to->out, "%s_bucket{%s%sle=\"", metric->name, labels,
                         *labels != '\0' ? "," : "");
        write_bound(to, b);
        pe_buffer_format(to->out, "\"} %" PRIu64 "\n", count);
    }
    name(to, metric, "_sum", labels);
    pe_buffer_format(to->out, "%.9f\n", (double)nanoseconds / PE_NANOSECONDS_PER_SECOND);
    write_count(to, metric, labels, count);
}

void pe_exposition_end(const pe_exposition *to)
{
    if (to->open_metrics)
        pe_buffer_str(to->out, "# EOF\n");
}
