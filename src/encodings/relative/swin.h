/* SPDX-License-Identifier: MIT */
/* swin.h - what the resources of windows of an image share: their parameters. */
#ifndef PE_ENCODINGS_RELATIVE_SWIN_H
#define PE_ENCODINGS_RELATIVE_SWIN_H

#include "plan/plan.h"

#define PE_SWIN_SIDE_MAX 1024

/* Rows of parameters, as initialisers. */
#define PE_SWIN_SIDE(side, text)                                                                   \
    {                                                                                              \
        .name = (side), .kind = PE_KIND_INT, .required = true, .min = 1, .max = PE_SWIN_SIDE_MAX,  \
        .plan_work = PE_PLAN_WORK_POWER, .unit = "patches", .help = (text), .example = "3"         \
    }
#define PE_SWIN_HEIGHT PE_SWIN_SIDE("window_height", "Rows of the window that attends to itself.")
#define PE_SWIN_WIDTH  PE_SWIN_SIDE("window_width", "Columns of the window.")

#endif
