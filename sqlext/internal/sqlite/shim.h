/* What crosses between SQLite's callbacks, written in C, and Go: plain values,
** no SQLite type. Every field that Go reads is an integer or a pointer to C
** memory. */
#ifndef ALIKE_SHIM_H
#define ALIKE_SHIM_H
#include <stdint.h>

/* A value in either direction. type is one of SQLite's, SQLITE_INTEGER to
** SQLITE_NULL; i carries an integer or the bits of a double, and for the cells
** of a batch the offset of the bytes in the arena; p and n are text or a blob. */
typedef struct alike_value {
  int64_t type;
  int64_t i;
  int64_t n;
  const void *p;
} alike_value;

/* What a call is for. */
enum {
  ALIKE_CONNECT,    /* a new connection: specs are ready, conn is set */
  ALIKE_DISCONNECT, /* the connection is gone */
  ALIKE_FORGET,     /* close the statements kept for the connection */
  ALIKE_SCALAR,     /* argv to result */
  ALIKE_STEP,       /* rows of argc arguments for the aggregate handle */
  ALIKE_FINAL,      /* the aggregate's result; the handle is dropped */
  ALIKE_OPEN,       /* start a table-valued function, fill the first batch */
  ALIKE_NEXT,       /* fill the next batch */
  ALIKE_CLOSE       /* drop the handle */
};

/* A batch of rows of a table-valued function. */
typedef struct alike_batch {
  alike_value *cells;
  int64_t columns;  /* cells a row */
  int64_t capacity; /* rows there is room for */
  int64_t rows;     /* rows filled */
  char *arena;      /* the bytes of text and blobs */
  int64_t used, size;
} alike_batch;

#define ALIKE_SMALL 1536 /* a sketch of 168 slots */

/* One crossing. The result is NULL unless Go sets it; type -1 is an error of
** the given SQLite code. Bytes lie in small, or at p in memory of
** sqlite3_malloc64 that the receiver frees. */
typedef struct alike_call {
  int32_t op, function, conn, argc, rows;
  uint32_t given;   /* table-valued functions: which arguments are in argv, */
  int32_t ordered;  /* whether the order of the rows matters, */
  int32_t equal;    /* the column that must equal the value after the arguments, or -1, */
  int64_t limit;    /* and the most rows that will be read, or -1 */
  alike_value *argv;
  int64_t handle;   /* aggregate or cursor; 0 is none */
  int64_t kept;     /* what the statement has asked before; 0 for none */
  void *db;
  alike_batch *batch;
  alike_value result;
  int64_t code;
  char small[ALIKE_SMALL];
} alike_call;

enum { ALIKE_IS_SCALAR, ALIKE_IS_AGGREGATE, ALIKE_IS_TABLE };
enum {
  ALIKE_PURE = 1,        /* deterministic and innocuous */
  ALIKE_DIRECT = 2,      /* never from a view, trigger or index */
  ALIKE_NULLS = 4,       /* is called for NULL arguments too */
  ALIKE_NO_ECHO = 8,     /* hidden columns read NULL instead of the argument */
  ALIKE_INNOCUOUS = 16   /* innocuous, but called each time */
};

/* A function as functions.go declares it. text is a mask of the arguments for
** which a number is taken as its text. */
typedef struct alike_spec {
  const char *name, *declare;
  int32_t kind, flags, min, max, columns, order;
  uint32_t text;
} alike_spec;

extern alike_spec *alike_specs;
extern int alike_spec_count;

/* The caller's own connection, for the aspect: statements and errors. */
int alike_prepare(void *db, const char *sql, int n, int keep, int limited, void **stmt, int *used);
int alike_step(void *stmt, alike_value *columns, int n);
int alike_scan(void *stmt, int64_t *out, int rows, int columns, int *got);
typedef struct alike_run { int64_t value, row, state; } alike_run;
typedef struct alike_source { void *stmt; int64_t value, row; int state; } alike_source;
int alike_runs(alike_source *sources, int n, int64_t *out, int couples, alike_run *last, int *got);
int alike_bind(void *stmt, int i, int type, int64_t v, const void *p, int64_t n);
int alike_column_count(void *stmt);
int alike_reset(void *stmt);
int alike_finalize(void *stmt);
const char *alike_message(void *db);
int alike_limit(void *db, int number);
int64_t alike_changes(void *db);
int alike_column_metadata(void *db, const char *schema, const char *table, const char *column,
  const char **type, const char **collation);
int alike_autocommit(void *db);
void alike_roll_back(void *db);
int alike_legacy_rename(void *db, int on);
int alike_loose_quotes(void *db, int on);
void alike_log(const char *message);
void *alike_malloc(int64_t n);
int alike_grow(alike_batch *b, int64_t more);

/* The two doors of a Go program. */
int alike_install(void);
void alike_uninstall(void);
int alike_register_handle(void *db, char *message, int n);

/* guard.c */
extern volatile int alike_forked;
void alike_guard_after_go(void);

#endif
