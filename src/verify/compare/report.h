/* SPDX-License-Identifier: MIT */
/* report.h - what is told of an upload. */
#ifndef PE_VERIFY_COMPARE_REPORT_H
#define PE_VERIFY_COMPARE_REPORT_H

#include "verify/upload/upload.h"

/** Distances between an upload and expected numbers. */
typedef struct pe_errors {
    size_t elements;
    double max_abs, max_ulp, rms;
    bool has_phase;
    double max_phase; /* radians, 0 to pi */
} pe_errors;

/** Pairs [first, last], fastest first; or units of the leading axis where there are no pairs. */
typedef struct pe_band {
    size_t first, last;
    pe_errors errors;
} pe_band;

#define PE_BANDS_MAX 8

/** Most cells of a difference, along each side. */
#define PE_DIFFERENCE_CELLS ((size_t)512)

/** The largest distance in each cell, by row and pair; of numbers that are no pairs by row and
 * column, as those of pe_mismatches. An infinite one: an element is NaN or infinite. */
typedef struct pe_difference {
    size_t rows, columns; /* of the upload */
    size_t down, across;  /* cells: row r is in cell r * down / rows */
    float *cell;          /* [down][across] owned; NULL: there is none */
} pe_difference;

/** Distances of all elements, and of those of each band. */
typedef struct pe_distances {
    pe_errors errors;
    size_t n_bands;
    pe_band bands[PE_BANDS_MAX];
} pe_distances;

/**
 * Read off a table or vectors as if each pair were A (cos(p w), sin(p w)), with the frequencies of
 * a guess, or with those that the upload itself has where they are not the guess's.
 */
typedef struct pe_reading {
    size_t tokens, pairs;
    double step;       /* from one claimed position to the next, of most rows */
    size_t of_rows;    /* they are a sample of so many; 0: they are all (pe_reading_row) */
    double *claimed;   /* [tokens] owned, as all of these: positions of the guess */
    double *position;  /* [tokens] measured; NAN: the row is of no position */
    double *frequency; /* [pairs] of the guess */
    double *turned;    /* [pairs] measured from row to row; NAN: it turns without any order */
    bool anchored;     /* frequencies were read off the phases of rows, not only off their turns */
    bool still;        /* all rows are the same, though other positions are claimed */
    bool own;          /* positions were read with `turned`, for the guess's frequencies fail */
    double quality;    /* the part of the rows that have a position */
    double amplitude, claimed_amplitude;
    double steady; /* of tables: the part of the pairs with this amplitude, and equal copies */
} pe_reading;

/** What else was read off an upload: sentences, and members of a JSON object. */
typedef struct pe_facts {
    pe_buffer text, json; /* owned */
} pe_facts;

/** Cells of a small map: parts of the rows by parts of the columns. */
#define PE_MAP_CELLS 8

/** Elements that are not what they should be, and where they are. Rows are those of a person: of
 * numbers that are no pairs, units of the leading axis; their columns are along the last axis. */
typedef struct pe_mismatches {
    size_t compared;                /* 0: the guess has not the upload's shape */
    size_t elements, rows, columns; /* how many, in how many rows and columns */
    size_t first_row, last_row, first_column, last_column;
    size_t all_rows, all_columns;
    size_t not_finite, zeros;
    size_t map[PE_MAP_CELLS][PE_MAP_CELLS]; /* elements by row and column */
} pe_mismatches;

/** Any so few numbers have some mistake whose own numbers are read off them: none such is told. */
#define PE_NUMBERS_TOO_FEW 2

#define PE_FAULTS_MAX   3 /* that a search puts together */
#define PE_FAULTS_ROOM  6 /* a cause of positions may be two; a permuted upload has one before */
#define PE_FINDINGS_MAX 8

/** Faults that explain the upload. */
typedef struct pe_finding {
    size_t rank; /* from 1; findings that no number of the upload tells apart share one */
    size_t n_faults;
    const char *faults[PE_FAULTS_ROOM];
    bool exact;       /* explained as exact numbers, not only as those of the float32 path */
    size_t undecided; /* elements of which float32 arithmetic tells nothing; 0 when exact */
    bool fitted;      /* some number was only read off the upload */
    char *rule;       /* owned: sentences */
    char *evidence;   /* owned: sentences */
    char *remedy;     /* owned: what to change */
    char *parameters; /* owned: JSON of the values that give the upload */
    pe_errors errors; /* what remains */
} pe_finding;

/** The largest distance that was allowed, and what it is made of. */
typedef struct pe_allowed {
    const char *arithmetic; /* exact, float32; NULL: a tolerance took its place */
    double max_abs;
    double max_ulp; /* the same in units of the type at that element, or of its pair's amplitude */
    double stored;  /* the part that is roundings of the element itself */
    bool has_pair;  /* the others are of this pair at this position */
    size_t pair;
    double position, frequency, amplitude, roundings;
    double angle, waves, products;
    const char *words; /* without pairs: what the rest of max_abs is; borrowed */
} pe_allowed;

/** Parameters that explain a match as well as the claim does, and from which position on they would
 * not; 0: from none. */
typedef struct pe_indistinguishable_other {
    char claimed[64], instead[64]; /* "rope_type=yarn" */
    double rows_from;
} pe_indistinguishable_other;

typedef struct pe_indistinguishable {
    size_t n;
    pe_indistinguishable_other other[24];
} pe_indistinguishable;

typedef struct pe_report {
    bool matches;
    const char *numerics;   /* the arithmetic that explains a match: exact, float32; else NULL */
    size_t undecided;       /* elements of a match by float32 of which that tells nothing */
    const char *bands_of;   /* "pairs" or "rows" */
    pe_distances distances; /* from the claim */
    pe_bad first_bad;
    pe_indistinguishable indistinguishable; /* of a match */
    pe_allowed allowed;
    size_t n_findings;
    pe_finding findings[PE_FINDINGS_MAX];
    size_t hypotheses; /* guesses that were tried */
    bool pairs_tried;  /* whether pairs of faults were, too */
    size_t sampled; /* positions in which faults were looked for; 0: all. Findings hold for all, */
    size_t sampled_of; /* unless this is not 0: then for those of so many rows */
    size_t work;       /* elements, roughly, that were computed to find them, beside the claim's */
    size_t computed;   /* elements, those of the claim included */
    bool complete;     /* false: max_work or given_up ended the search */
    char *parameters;  /* owned: canonical JSON of the claim */
    bool in_parts;     /* some heads alone are as claimed: their reading is none of all */
    bool has_reading;
    pe_reading reading; /* owned: of pairs */
    pe_facts facts;     /* of plain numbers */
    bool has_mismatches;
    pe_mismatches mismatches; /* from the claim */
    pe_difference difference; /* from the claim, where the context asks for it */
} pe_report;

void pe_verify_finding_free(pe_finding *finding);
/** How many faults it takes to explain the upload; what is only fitted explains less, and the most are
 * wanted where nothing does. */
size_t pe_report_faults(const pe_report *report);
void pe_verify_report_free(pe_report *report);

#endif
