/* SPDX-License-Identifier: MIT */
/* test_fuzz_corpora.c - each input of tests/fuzz, through the parser that it was found for. */
#include "support/check.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "fuzz/targets.h"

enum { INPUT_MAX = 1 << 16 };

/* A copy without spare bytes, so that a sanitizer sees reads past its end. */
static void run_file(const fuzz_target *target, const char *path)
{
    static char bytes[INPUT_MAX];
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        fail_msg("%s: cannot be read", path);
    const size_t n = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    char *exact = malloc(n > 0 ? n : 1);
    assert_non_null(exact);
    memcpy(exact, bytes, n);
    print_message("%s\n", path); /* the last one is at fault when the program dies */
    target->run((pe_slice){exact, n});
    free(exact);
}

static size_t run_folder(const fuzz_target *target)
{
    char folder[PATH_MAX / 2], path[PATH_MAX];
    const char *root = getenv("POSENC_ROOT");
    snprintf(folder, sizeof folder, "%s/tests/fuzz/%s", root != NULL ? root : ".", target->name);
    DIR *files = opendir(folder);
    if (files == NULL)
        fail_msg("%s: there is no such folder", folder);
    size_t n = 0;
    for (const struct dirent *entry; (entry = readdir(files)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        run_file(target, path);
        n++;
    }
    closedir(files);
    return n;
}

static void every_input_keeps_the_promises_of_its_parser(void **state)
{
    (void)state;
    for (const fuzz_target *target = fuzz_targets; target->name != NULL; target++)
        if (run_folder(target) == 0)
            fail_msg("%s has no inputs", target->name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_input_keeps_the_promises_of_its_parser),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
