/* SPDX-License-Identifier: MIT */
/* sinusoidal.h - what the sinusoidal resources share: parameters, frequencies and rows. */
#ifndef PE_ENCODINGS_SINUSOIDAL_SINUSOIDAL_H
#define PE_ENCODINGS_SINUSOIDAL_SINUSOIDAL_H

#include "plan/common_params.h"
#include "plan/plan.h"
#include "tables/tables.h"

/** Widest row. */
#define PE_SINUSOIDAL_WIDTH_MAX 65536

extern const char *const pe_sinusoidal_layouts[];
enum { PE_SINUSOIDAL_INTERLEAVED, PE_SINUSOIDAL_SIN_COS, PE_SINUSOIDAL_COS_SIN };

#define PE_SINUSOIDAL_FORMULA                                                                      \
    "sin(pos * scale * w_i) and cos(pos * scale * w_i), w_i = base^(-i/(h - freq_shift)), "        \
    "h = d_model/2 for freq_shift 0, else floor(d_model/2); all times amplitude"
#define PE_SINUSOIDAL_SOURCE                                                                       \
    "Vaswani et al. 2017, arXiv:1706.03762, section 3.5; freq_shift: "                             \
    "tensorflow/tensor2tensor@bafdc1b67730430d38d6ab802cbd51f9d053ba2e"

/** base, layout, freq_shift, scale, amplitude; the first three; and single ones. */
extern const pe_param_set pe_sinusoidal_params, pe_sinusoidal_wave_params,
    pe_sinusoidal_base_params, pe_sinusoidal_freq_shift_params, pe_sinusoidal_amplitude_params;

/** What rows take from one set of frequencies, and where they have it. */
typedef struct pe_sinusoid_waves {
    pe_shared_wave set; /* entry NULL: nothing */
    pe_wave_layout layout;
} pe_sinusoid_waves;

/** The rows of one table, as far as they do not depend on positions. Immutable once made. */
typedef struct pe_sinusoid {
    size_t width;
    pe_dtype dtype;
    pe_sinusoid_waves waves[2]; /* both sines and cosines; or sines, then cosines */
    bool zero_column;           /* the last one */
} pe_sinusoid;

/** What rows are made from: w_i = (base[0]/base[1])^(-i/(h - freq_shift)), and position pos stands
 * for pos * scale / (divisor[0] + divisor_more) / divisor[1], in turns or radians; all of it in real
 * arithmetic. */
typedef struct pe_sinusoid_spec {
    size_t width, layout;
    pe_dtype dtype;
    double base[2];
    double freq_shift;
    double scale, divisor[2], divisor_more;
    bool turns;
    double amplitude; /* of sines and cosines, at most 1000 */
    bool float32;     /* the reference path, which has no divisors */
} pe_sinusoid_spec;

/** From dtype, and those that there are of base, layout (else sin_cos), freq_shift,
 * scale, amplitude and numerics. */
pe_sinusoid_spec pe_sinusoid_read(const pe_values *values, size_t width);

/** Errors  INVALID_PARAMETER: freq_shift leaves nothing to divide by; OVERLOADED (memory). *out may
 * be freed then, too. */
pe_status pe_sinusoid_make(const pe_sinusoid_spec *spec, pe_tables *tables, pe_sinusoid *out,
                           pe_problem *why) PE_MUST_CHECK;
void pe_sinusoid_free(pe_sinusoid *sinusoid);
/**
 * The same in the state of a plan, which releases it. What rows at these positions cost beside others
 * is added to the price of the tensor; NULL: it is little.
 * Errors  TOO_MUCH_WORK.
 */
pe_status pe_sinusoid_plan(const pe_sinusoid_spec *spec, const pe_positions *positions,
                           size_t tensor, pe_plan *plan, pe_sinusoid *out,
                           pe_problem *why) PE_MUST_CHECK;

/**
 * A region of the table of `positions`: rows, or columns of one of them, packed.
 * Source    Vaswani et al. 2017, arXiv:1706.03762, section 3.5.
 * Shapes    out: [units, columns], dtype.
 * Accuracy  correctly rounded, or the float32 reference path, as the parameters said.
 */
pe_status pe_sinusoid_fill(const pe_sinusoid *sinusoid, const pe_positions *positions,
                           const pe_region *region, void *out, pe_problem *why) PE_MUST_CHECK;

#endif
