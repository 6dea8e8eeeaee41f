/* SPDX-License-Identifier: MIT */
/* unread_keys.h - keys that bear on positions, and that nothing reads. Private to models/. */
#ifndef PE_MODELS_LAYERS_UNREAD_KEYS_H
#define PE_MODELS_LAYERS_UNREAD_KEYS_H

#include "models/reader.h"

/** Report the keys whose names speak of positions; those of rotations with a warning. */
void pe_unread_keys_report(pe_reader *reader);
/** Report those of a configuration around the language model's, which is what is read now. */
void pe_unread_keys_report_around(pe_reader *reader);

#endif
