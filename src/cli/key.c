/* SPDX-License-Identifier: MIT */
/* key.c - `posenc key new NAME`: a key for a client, and on standard output, alone, the line that
 * lets it in. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "http/clients/keys.h"

int pe_cli_key(int n_arguments, char **arguments)
{
    pe_problem why;
    pe_buffer text = {0};
    uint8_t hash[PE_KEY_HASH_BYTES];
    char key[PE_KEY_TEXT_BYTES], digits[2 * PE_KEY_HASH_BYTES + 1];
    pe_status status;
    if (n_arguments != 2 || strcmp(arguments[0], "new") != 0)
        status = pe_fail(&why, PE_INVALID_PARAMETER, "", "expected: posenc key new NAME");
    else if (!pe_key_is_name(pe_slice_of(arguments[1])))
        status = pe_fail(&why, PE_INVALID_PARAMETER, "name",
                         "a name must be 1 to %d letters, digits, '.', '_' or '-', got %.100s",
                         PE_KEY_NAME_MAX, arguments[1]);
    else
        status = pe_key_new(key, hash, &why);
    if (status != PE_OK)
        return pe_cli_fail("key_failed", &why);
    pe_key_print(hash, sizeof hash, digits);
    fprintf(stderr,
            "The key, which is shown this once (Authorization: Bearer KEY):\n\n%s\n\n"
            "The line for keys_file; rate=N, work=N and disabled may follow:\n\n",
            key);
    pe_buffer_format(&text, "%s sha256:%s\n", arguments[1], digits);
    explicit_bzero(key, sizeof key);
    return pe_cli_print(&text);
}
