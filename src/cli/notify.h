/* SPDX-License-Identifier: MIT */
/* notify.h - tell the service manager how far the program is. */
#ifndef PE_CLI_NOTIFY_H
#define PE_CLI_NOTIFY_H

/** Send the state to the socket that NOTIFY_SOCKET names, as sd_notify(3) does: a path, or an
 * abstract name after '@'. Nothing happens where there is none. */
void pe_notify(const char *state);

/** RELOADING=1, with the time that the manager wants beside it. */
void pe_notify_reloading(void);

#endif
