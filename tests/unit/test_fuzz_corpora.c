/* SPDX-License-Identifier: MIT */
/* test_fuzz_corpora.c - each input of tests/fuzz, through the parser that it was found for. */
#include "support/check.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#include "fuzz/targets.h"

enum { INPUT_MAX = 1 << 16 };

/* A copy without spare bytes, so that a sanitizer sees reads past its end. */
static void run(const fuzz_target *target, const char *name, pe_slice input)
{
    char *exact = malloc(input.bytes > 0 ? input.bytes : 1);
    assert_non_null(exact);
    memcpy(exact, input.text, input.bytes);
    print_message("%s\n", name); /* the last one is at fault when the program dies */
    target->run((pe_slice){exact, input.bytes});
    free(exact);
}

static void run_file(const fuzz_target *target, const char *path)
{
    static char bytes[INPUT_MAX];
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        fail_msg("%s: cannot be read", path);
    const size_t n = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    run(target, path, (pe_slice){bytes, n});
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
    for (const fuzz_target *target = fuzz_targets; target->name != NULL; target++)
        if (run_folder(target) == 0)
            fail_msg("%s has no inputs", target->name);
}

/* ---- what fuzzing has found: an archive of TARGET/NUMBER ---- */

enum { RECORD = 512, SIZE_AT = 124 }; /* of the format ustar */

/* The next file. False at the end. */
static bool next_member(gzFile archive, char header[RECORD], char bytes[INPUT_MAX], size_t *n)
{
    assert_int_equal(gzread(archive, header, RECORD), RECORD);
    if (header[0] == '\0')
        return false;
    *n = strtoul(header + SIZE_AT, NULL, 8);
    const unsigned padded = (unsigned)((*n + RECORD - 1) / RECORD * RECORD);
    assert_in_range(padded, 0, INPUT_MAX);
    assert_int_equal(gzread(archive, bytes, padded), (int)padded);
    return true;
}

static void every_grown_input_does(void **state)
{
    static char path[PATH_MAX], header[RECORD], bytes[INPUT_MAX];
    const char *root = getenv("POSENC_ROOT");
    size_t n, inputs = 0;
    snprintf(path, sizeof path, "%s/tests/fuzz/grown.tar.gz", root != NULL ? root : ".");
    gzFile archive = gzopen(path, "rb");
    assert_non_null(archive);
    for (; next_member(archive, header, bytes, &n); inputs++) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(header, "/"), header);
        const fuzz_target *target = fuzz_target_find(name);
        if (target == NULL)
            fail_msg("%s is of no target", header);
        run(target, header, (pe_slice){bytes, n});
    }
    gzclose(archive);
    assert_true(inputs > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_input_keeps_the_promises_of_its_parser),
        cmocka_unit_test(every_grown_input_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
