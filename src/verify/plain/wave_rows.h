/* SPDX-License-Identifier: MIT */
/* wave_rows.h - how tables of sines and cosines by place go wrong, as rows. */
#ifndef PE_VERIFY_PLAIN_WAVE_ROWS_H
#define PE_VERIFY_PLAIN_WAVE_ROWS_H

#include "verify/plain/wave_places.h"

extern const size_t pe_wave_rows_n;

/** Change a table by row r, and tell the numbers of its sentence. False: it makes no sense there. */
bool pe_wave_rows_make(pe_wave_change *c, size_t r, pe_numbers_cause *cause) PE_MUST_CHECK;

#endif
