/* SPDX-License-Identifier: MIT */
/* law_scalings.h - scalings that were computed in another way: ramps, blends and bases. */
#ifndef PE_VERIFY_LAW_SCALINGS_H
#define PE_VERIFY_LAW_SCALINGS_H

#include "verify/law_numbers.h"
#include "verify/law_predictions.h"

/** How the ends of yarn's ramp were found. */
typedef enum pe_law_ramp {
    PE_LAW_RAMP_CLAIMED,
    PE_LAW_RAMP_BETAS,    /* with the usual beta_fast and beta_slow: 32 and 1 */
    PE_LAW_RAMP_BASE,     /* with a base of 10000 */
    PE_LAW_RAMP_HEAD,     /* with head_dim in the place of rotary_dim */
    PE_LAW_RAMP_PART,     /* with the part of rotary_dim that it is of head_dim */
    PE_LAW_RAMP_HALF,     /* with d/2 in the place of d */
    PE_LAW_RAMP_DOUBLE,   /* with 2d */
    PE_LAW_RAMP_CHANNELS, /* and laid over channels, not pairs */
    PE_LAW_RAMP_LAST,     /* not behind the last pair */
    PE_LAW_RAMP_INWARD,   /* low rounded up, high down */
    PE_LAW_RAMP_CUT,      /* both rounded down */
    PE_LAW_RAMP_NEAREST,  /* both rounded to nearest */
} pe_law_ramp;

/** The ramp found in way a goes from pair a to pair b. */
pe_law_reader pe_law_numbers_ramp;
pe_law_prediction pe_predict_of_ramp;

/** Frequencies are blended at all; by the bands of llama3. */
pe_law_reader pe_law_numbers_blended, pe_law_numbers_banded;
/** Wavelengths are blended, not frequencies; the blend is linear in the wavelength; it goes to
 * factor in the place of high_freq_factor. */
pe_law_prediction pe_predict_of_mean_wavelength, pe_predict_of_smooth_wavelength,
    pe_predict_of_smooth_factor;

/** To which power ntk and dynamic scaling raise s, the scale. */
typedef enum pe_law_power {
    PE_LAW_POWER_ONE,
    PE_LAW_POWER_INVERTED, /* (d - 2)/d */
    PE_LAW_POWER_HEAD,     /* that of head_dim */
    PE_LAW_POWER_HALF,     /* that of d/2 */
    PE_LAW_POWER_NOT_LESS, /* as claimed, but of s + factor - 1 */
} pe_law_power;

/** With power a the base is a, and s is b. */
pe_law_reader pe_law_numbers_grown_base;

#endif
