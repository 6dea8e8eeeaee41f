/* SPDX-License-Identifier: MIT */
/* swin.h - what the resources of windows of an image share: their parameters. */
#ifndef PE_ENCODINGS_RELATIVE_SWIN_H
#define PE_ENCODINGS_RELATIVE_SWIN_H

#include "plan/common_params.h"
#include "plan/plan.h"

#define PE_SWIN_SIDE_MAX 1024

extern const pe_param_set pe_swin_window_params; /* window_height, window_width */

#endif
