/* SPDX-License-Identifier: MIT */
/* shown_settings.c - the settings in effect, with their sources, as operators see them. */
#include <pthread.h>
#include <stdlib.h>

#include "http/pages/pages.h"
#include "http/reply/reply.h"

/* The lock guards the text: what a reload has left; until then there is none. */
struct pe_shown_settings {
    const pe_config *started;
    pthread_mutex_t lock;
    pe_buffer text;
};

pe_status pe_shown_settings_make(const pe_config *config, pe_shown_settings **out, pe_problem *why)
{
    pe_shown_settings *shown = calloc(1, sizeof *shown);
    if (shown == NULL)
        return pe_fail_memory(why);
    shown->started = config;
    pthread_mutex_init(&shown->lock, NULL);
    *out = shown;
    return PE_OK;
}

void pe_shown_settings_update(pe_shown_settings *shown, const pe_config *fresh,
                              bool (*applies)(const char *name))
{
    pe_buffer text = {0};
    pe_config_print_over(shown->started, fresh, applies, &text);
    if (!text.failed) {
        pthread_mutex_lock(&shown->lock);
        const pe_buffer before = shown->text;
        shown->text = text;
        text = before;
        pthread_mutex_unlock(&shown->lock);
    }
    pe_buffer_free(&text);
}

void pe_shown_settings_free(pe_shown_settings *shown)
{
    if (shown == NULL)
        return;
    pthread_mutex_destroy(&shown->lock);
    pe_buffer_free(&shown->text);
    free(shown);
}

pe_outcome pe_page_settings(pe_request *request, pe_problem *why)
{
    pe_shown_settings *shown = request->service->shown;
    pe_buffer content = {0};
    pthread_mutex_lock(&shown->lock);
    pe_buffer_add(&content, shown->text.data, shown->text.bytes);
    pthread_mutex_unlock(&shown->lock);
    if (content.bytes == 0)
        pe_config_print(shown->started, &content);
    return pe_reply_json(request, &content, "no-store", why);
}
