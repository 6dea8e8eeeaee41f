/* SPDX-License-Identifier: MIT */
/* fit_angle.h - a number from the angles of single pairs. */
#ifndef PE_VERIFY_FIT_ANGLE_H
#define PE_VERIFY_FIT_ANGLE_H

#include "verify/fitting.h"

/** Narrow the bracket as far as angles tell the value. at->error: HUGE_VAL where none tells it. */
pe_status pe_fit_angle_bisect(pe_fitting *fit, pe_bracket *at, pe_problem *why) PE_MUST_CHECK;

#endif
