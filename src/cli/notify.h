/* SPDX-License-Identifier: MIT */
/* notify.h - tell the service manager how far the program is. */
#ifndef PE_CLI_NOTIFY_H
#define PE_CLI_NOTIFY_H

/** Connect to the socket that NOTIFY_SOCKET names: a path, or an abstract name after '@'. */
void pe_notify_open(void);

/** Send the state there, as sd_notify(3) does. Nothing happens where there is none. */
void pe_notify(const char *state);

/** READY=1. */
void pe_notify_ready(void);

/** RELOADING=1, with the time that the manager wants beside it. */
void pe_notify_reloading(void);

#endif
