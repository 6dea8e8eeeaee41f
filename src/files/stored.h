/* SPDX-License-Identifier: MIT */
/* stored.h - tensors as the files of others hold them: NumPy's and safetensors. */
#ifndef PE_FILES_STORED_H
#define PE_FILES_STORED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/slice.h"

#define PE_STORED_NAME_BYTES 128

/** A number of so many bytes, at most 8, the least significant one first. */
static inline uint64_t pe_stored_little(const void *at, size_t bytes)
{
    uint64_t number = 0;
    for (size_t i = bytes; i-- > 0;)
        number = number << 8 | ((const unsigned char *)at)[i];
    return number;
}

/** A tensor in the bytes of a file or body. Checked: its numbers are all there. */
typedef struct pe_stored {
    char name[PE_STORED_NAME_BYTES]; /* "" where the format names none */
    pe_dtype dtype;                  /* PE_DTYPES: an element type that is not read here */
    pe_shape shape;
    size_t elements;
    const unsigned char *data; /* in the file, any alignment; bytes of it */
    size_t bytes;
    size_t there; /* of the bytes, where the others are still to come; 0: all of them */
    bool fortran; /* the first axis is the one that runs fastest; parts of a number stay together */
    bool swapped; /* the first byte of a number is its most significant one */
    bool wide;    /* integers of 64 bits each, to be read as int32, which dtype is */
    bool is_complex; /* dtype is of its parts, which a last axis of 2 was added for */
} pe_stored;

/** The tensors of one file, in an array that the caller brings. */
typedef struct pe_stored_list {
    pe_stored *tensor; /* [room] */
    size_t room, n;
} pe_stored_list;

/**
 * Read the header of a whole file in memory; the tensor borrows from it.
 *
 * Source  numpy/numpy: numpy/lib/format.py (NEP 1), versions 1.0 to 3.0.
 * Errors  MALFORMED_REQUEST, INVALID_PARAMETER (element type), TOO_MANY_ELEMENTS.   Threads  any.
 */
pe_status pe_npy_file_read(pe_slice file, size_t max_elements, pe_stored *out,
                           pe_problem *why) PE_MUST_CHECK;

/** The same of a file of so many bytes, of which the head is there. */
pe_status pe_npy_file_begin(pe_slice head, size_t bytes, size_t max_elements, pe_stored *out,
                            pe_problem *why) PE_MUST_CHECK;

/**
 * The same for a zip file of up to out->room such files, as numpy.savez writes it. What
 * numpy.savez_compressed writes is unpacked, up to 8 bytes for each of max_elements, into a buffer
 * that tensors borrow from; NULL: it is refused.
 *
 * Source  numpy/numpy: numpy/lib/_npyio_impl.py, savez; PKWARE APPNOTE.TXT 6.3.
 * Errors  as above; OVERLOADED (memory).
 */
pe_status pe_npz_file_read(pe_slice file, size_t max_elements, pe_buffer *unpacked,
                           pe_stored_list *out, pe_problem *why) PE_MUST_CHECK;

/** Does it begin as a zip file? */
bool pe_npz_file_is(pe_slice file);

/**
 * The same for a safetensors file of up to out->room tensors.
 *
 * Source  huggingface/safetensors: README.md ("Format").
 * Errors  MALFORMED_REQUEST, TOO_MANY_ELEMENTS, OVERLOADED (memory).   Threads  any.
 */
pe_status pe_safetensors_file_read(pe_slice file, size_t max_elements, pe_stored_list *out,
                                   pe_problem *why) PE_MUST_CHECK;

/** The same of a file of so many bytes, of which the header is there. */
pe_status pe_safetensors_file_begin(pe_slice head, size_t bytes, size_t max_elements,
                                    pe_stored_list *out, pe_problem *why) PE_MUST_CHECK;

/** INVALID_PARAMETER where numbers are complex: most of what reads tensors has no use for them. */
pe_status pe_stored_check_real(const pe_stored *tensor, pe_problem *why) PE_MUST_CHECK;

/** Add the axis of real and imaginary parts. False: there are too many axes. */
bool pe_stored_split_complex(pe_stored *tensor);

/** A text of the metadata of a safetensors file; *out, the caller's to free, is NULL where it has
 * no such key.   Errors  as above. */
pe_status pe_safetensors_file_metadata(pe_slice file, const char *key, char **out,
                                       pe_problem *why) PE_MUST_CHECK;

/** Bytes of a number in the file. */
size_t pe_stored_size(const pe_stored *tensor);

/** Set the name, which fits; what a terminal would obey becomes a question mark. */
void pe_stored_set_name(pe_stored *tensor, const char *name, size_t bytes);

/** Number e of the rows, which is there. */
double pe_stored_number(const pe_stored *tensor, size_t e);

/** Set tensor->elements from its shape and hold them against the bytes there are. `what` names the
 * place that told the shape. */
pe_status pe_stored_check_size(pe_stored *tensor, const char *what, size_t bytes,
                               size_t max_elements, pe_problem *why) PE_MUST_CHECK;

/** The numbers row-major, each rounded once to dtype (PE_INT32: of int32 alone); borrowed where
 * they are so already, and aligned. Those of which some are still to come are borrowed wherever
 * they stand.   Errors  INVALID_PARAMETER: some are still to come, and are not so; an integer is none of
 * int32. */
pe_status pe_stored_array(const pe_stored *from, pe_dtype dtype, pe_array *out,
                          pe_problem *why) PE_MUST_CHECK;

/** The numbers where they stand, at any alignment, as pe_dtype_load reads them. False: they are not
 * row-major numbers of dtype. */
bool pe_stored_borrow(const pe_stored *from, pe_dtype dtype, pe_array *out);

/** INVALID_PARAMETER at `place` unless all numbers of array, made from `from`, are finite. */
pe_status pe_stored_check_finite(const pe_array *array, const pe_stored *from, const char *place,
                                 pe_problem *why) PE_MUST_CHECK;

#endif
