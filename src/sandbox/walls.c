/* SPDX-License-Identifier: MIT */
/* walls.c - what all walls say. */
#include "sandbox/walls.h"

#include <stdarg.h>
#include <stdio.h>

pe_sandbox_state pe_wall_say(pe_wall_note note, pe_sandbox_state state, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(note.text, note.bytes, format, arguments);
    va_end(arguments);
    return state;
}
