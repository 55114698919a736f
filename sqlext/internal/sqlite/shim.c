/* The one place that talks to SQLite. Go declares the functions (functions.go);
** here their arguments are marshalled, one crossing is made, and the result is
** handed over. */
#include "sqlite3ext.h"
/* Static, so that two extensions linked into one program do not share it;
** SQLITE_EXTENSION_INIT1 would define it globally. */
static const sqlite3_api_routines *sqlite3_api;
#include <string.h>
#include "shim.h"
#include "_cgo_export.h"

#define ARGUMENTS 8
#define OLDEST 3031000

alike_spec *alike_specs;
int alike_spec_count;

static const char forked[] =
  "alike: this process was forked after the extension was loaded; load it in the child instead";

typedef struct binding {
  struct connection *owner;
  int function;
} binding;

typedef struct connection {
  sqlite3 *db;
  int conn;
  int refs;
  binding bindings[];
} connection;

static void release(void *p){
  connection *c = ((binding*)p)->owner;
  if( --c->refs>0 ) return;
  if( !alike_forked ){
    alike_call call = {.op=ALIKE_DISCONNECT, .conn=c->conn};
    alikeCall(&call);
  }
  sqlite3_free(c);
}

static void begin(alike_call *call, int op, const binding *b){
  memset(call, 0, offsetof(alike_call, small));
  call->op = op;
  call->function = b->function;
  call->conn = b->owner->conn;
  call->db = b->owner->db;
  call->result.type = SQLITE_NULL;
  call->limit = -1;
  call->equal = -1;
}

/* Fills v from an argument. Returns 0 when memory ran out. */
static int marshal(alike_value *v, sqlite3_value *a, int text){
  v->type = sqlite3_value_type(a);
  v->i = 0; v->n = 0; v->p = 0;
  switch( v->type ){
    case SQLITE_INTEGER:
      if( text ) goto as_text;
      v->i = sqlite3_value_int64(a);
      break;
    case SQLITE_FLOAT: {
      if( text ) goto as_text;
      double d = sqlite3_value_double(a);
      memcpy(&v->i, &d, 8);
      break;
    }
    case SQLITE_TEXT:
    as_text:
      v->type = SQLITE_TEXT;
      v->p = sqlite3_value_text(a);
      if( v->p==0 ) return 0;
      v->n = sqlite3_value_bytes(a);
      break;
    case SQLITE_BLOB:
      v->p = sqlite3_value_blob(a);
      v->n = sqlite3_value_bytes(a);
      if( v->p==0 && v->n>0 ) return 0;
      break;
  }
  return 1;
}

/* A text or blob that the host does not allow is an error that names the limit. */
static int fits(sqlite3_context *x, int function, int64_t n){
  int limit = sqlite3_limit(sqlite3_context_db_handle(x), SQLITE_LIMIT_LENGTH, -1);
  char text[160];
  if( n<=limit ) return 1;
  sqlite3_snprintf(sizeof text, text, "%s: the result has %lld bytes, and SQLITE_LIMIT_LENGTH is %d", alike_specs[function].name, (sqlite3_int64)n, limit);
  sqlite3_result_error(x, text, -1);
  sqlite3_result_error_code(x, SQLITE_TOOBIG);
  return 0;
}

static void give(sqlite3_context *x, alike_call *call){
  alike_value *r = &call->result;
  const char *p = r->p ? r->p : call->small;
  if( (r->type==SQLITE_TEXT || r->type==SQLITE_BLOB) && !fits(x, call->function, r->n) ){
    sqlite3_free((void*)r->p);
    return;
  }
  switch( r->type ){
    case SQLITE_INTEGER: sqlite3_result_int64(x, r->i); return;
    case SQLITE_FLOAT: {
      double d;
      memcpy(&d, &r->i, 8);
      sqlite3_result_double(x, d);
      return;
    }
    case SQLITE_TEXT:
      sqlite3_result_text64(x, p, (sqlite3_uint64)r->n, r->p ? sqlite3_free : SQLITE_TRANSIENT, SQLITE_UTF8);
      return;
    case SQLITE_BLOB:
      sqlite3_result_blob64(x, p, (sqlite3_uint64)r->n, r->p ? sqlite3_free : SQLITE_TRANSIENT);
      return;
    case -1:
      if( call->code==SQLITE_NOMEM ){
        sqlite3_result_error_nomem(x);
      }else{
        sqlite3_result_error(x, p, (int)r->n);
        if( call->code!=SQLITE_ERROR ) sqlite3_result_error_code(x, (int)call->code);
      }
      sqlite3_free((void*)r->p);
      return;
    default: sqlite3_result_null(x);
  }
}

static void scalar(sqlite3_context *x, int n, sqlite3_value **a){
  const binding *b = sqlite3_user_data(x);
  const alike_spec *s = &alike_specs[b->function];
  alike_value argv[ARGUMENTS];
  alike_call call;
  if( alike_forked ){ sqlite3_result_error(x, forked, -1); return; }
  for(int i=0; i<n; i++){
    if( !marshal(&argv[i], a[i], s->text>>i & 1) ){ sqlite3_result_error_nomem(x); return; }
    if( argv[i].type==SQLITE_NULL && !(s->flags & ALIKE_NULLS) ) return;
  }
  begin(&call, ALIKE_SCALAR, b);
  call.argc = n;
  call.argv = argv;
  alikeCall(&call);
  give(x, &call);
}

/* An aggregate gathers rows and hands them over together: a crossing costs more
** than a row. */
#define STEP_ROWS 64
#define STEP_BYTES 4096
typedef struct aggregate {
  int64_t handle;
  int rows, used;
  alike_value argv[STEP_ROWS*3];
  char bytes[STEP_BYTES];
} aggregate;

static int flush(sqlite3_context *x, aggregate *g, int n, alike_value *argv, int rows){
  alike_call call;
  begin(&call, ALIKE_STEP, sqlite3_user_data(x));
  call.argc = n;
  call.argv = argv;
  call.rows = rows;
  call.handle = g->handle;
  alikeCall(&call);
  g->handle = call.handle;
  g->rows = g->used = 0;
  if( call.result.type==-1 ){ give(x, &call); return 0; }
  return 1;
}

static void step(sqlite3_context *x, int n, sqlite3_value **a){
  const binding *b = sqlite3_user_data(x);
  const alike_spec *s = &alike_specs[b->function];
  aggregate *g;
  alike_value row[3];
  int64_t bytes = 0;
  if( alike_forked ){ sqlite3_result_error(x, forked, -1); return; }
  g = sqlite3_aggregate_context(x, sizeof *g);
  if( g==0 ){ sqlite3_result_error_nomem(x); return; }
  for(int i=0; i<n; i++){
    if( !marshal(&row[i], a[i], s->text>>i & 1) ){ sqlite3_result_error_nomem(x); return; }
    if( row[i].type==SQLITE_NULL ) return;
    bytes += row[i].n;
  }
  if( g->rows==STEP_ROWS || g->used+bytes>STEP_BYTES ){
    if( g->rows && !flush(x, g, n, g->argv, g->rows) ) return;
  }
  if( bytes>STEP_BYTES ){ flush(x, g, n, row, 1); return; }
  for(int i=0; i<n; i++){
    if( row[i].p && row[i].n ){
      memcpy(g->bytes+g->used, row[i].p, row[i].n);
      row[i].p = g->bytes+g->used;
      g->used += row[i].n;
    }
    g->argv[g->rows*n+i] = row[i];
  }
  g->rows++;
}

static void final(sqlite3_context *x, int n){
  aggregate *g = sqlite3_aggregate_context(x, 0);
  alike_call call;
  if( g==0 ) return;
  if( alike_forked ){ sqlite3_result_error(x, forked, -1); return; }
  if( g->rows && !flush(x, g, n, g->argv, g->rows) ) g->rows = -1;
  if( g->handle==0 ) return;
  int failed = g->rows<0;
  begin(&call, ALIKE_FINAL, sqlite3_user_data(x));
  call.handle = g->handle;
  alikeCall(&call);
  g->handle = 0;
  if( failed ) sqlite3_free((void*)call.result.p); else give(x, &call);
}
/* xFinal is not told how many arguments there were; the function is registered
** once for each number. */
static void final1(sqlite3_context *x){ final(x, 1); }
static void final2(sqlite3_context *x){ final(x, 2); }
static void final3(sqlite3_context *x){ final(x, 3); }
static void (*const finals[])(sqlite3_context*) = {0, final1, final2, final3};

/* Table-valued functions: columns first, then the arguments as hidden columns.
** idxNum holds the arguments given in its low bits. */
#define WITH_LIMIT  (1<<ARGUMENTS)
#define WITH_OFFSET (1<<(ARGUMENTS+1))
#define WITH_ORDER  (1<<(ARGUMENTS+2))
#define WITH_EQUAL  (1<<(ARGUMENTS+3)) /* the column is in the bits above */
#define EQUAL_SHIFT (ARGUMENTS+4)

typedef struct table {
  sqlite3_vtab base;
  const binding *bound;
  struct cursor *opened; /* the newest cursor, until it is asked something */
} table;

typedef struct cursor {
  sqlite3_vtab_cursor base;
  int64_t handle, kept;
  sqlite3_int64 rowid, row;
  alike_batch batch;
  sqlite3_value *given[ARGUMENTS];
} cursor;

/* A host limits the SQL that strangers give it. Our statements about data are ours, and
** of a size that the profile bounds, so the limits are lifted while they are compiled;
** what changes the schema is compiled under the limits, since it is read under them: all
** but the first, which SQLite reports as missing memory and so ends the transaction. */
static const int lifted[] = {SQLITE_LIMIT_VDBE_OP, SQLITE_LIMIT_SQL_LENGTH, SQLITE_LIMIT_COLUMN, SQLITE_LIMIT_EXPR_DEPTH,
  SQLITE_LIMIT_COMPOUND_SELECT, SQLITE_LIMIT_FUNCTION_ARG, SQLITE_LIMIT_VARIABLE_NUMBER};
#define LIFTED ((int)(sizeof lifted/sizeof lifted[0]))

static void lift(sqlite3 *db, int *host, int n){
  for(int i=0; i<n; i++) host[i] = sqlite3_limit(db, lifted[i], 0x7fffffff);
}

static void restore(sqlite3 *db, const int *host, int n){
  for(int i=0; i<n; i++) sqlite3_limit(db, lifted[i], host[i]);
}

static int tableConnect(sqlite3 *db, void *aux, int argc, const char *const*argv, sqlite3_vtab **pp, char **err){
  const binding *b = aux;
  const alike_spec *s = &alike_specs[b->function];
  table *t;
  int rc, host[LIFTED];
  (void)argc; (void)argv;
  lift(db, host, LIFTED);
  rc = sqlite3_declare_vtab(db, s->declare);
  restore(db, host, LIFTED);
  if( rc!=SQLITE_OK ){ /* an authorizer may refuse it */
    *err = sqlite3_mprintf("%s", sqlite3_errmsg(db));
    return rc;
  }
  t = sqlite3_malloc64(sizeof *t);
  if( t==0 ) return SQLITE_NOMEM;
  memset(t, 0, sizeof *t);
  t->bound = b;
  sqlite3_vtab_config(db, s->flags & ALIKE_DIRECT ? SQLITE_VTAB_DIRECTONLY : SQLITE_VTAB_INNOCUOUS);
  *pp = &t->base;
  return SQLITE_OK;
}

/* Called when the connection closes, before it looks for open statements. */
static int tableDisconnect(sqlite3_vtab *v){
  table *t = (table*)v;
  if( !alike_forked ){
    alike_call call;
    begin(&call, ALIKE_FORGET, t->bound);
    alikeCall(&call);
  }
  sqlite3_free(v->zErrMsg);
  sqlite3_free(t);
  return SQLITE_OK;
}

static int tableError(sqlite3_vtab *v, const char *p, int n, int rc){
  sqlite3_free(v->zErrMsg);
  v->zErrMsg = sqlite3_mprintf("%.*s", n, p);
  return rc;
}

static int tableBest(sqlite3_vtab *v, sqlite3_index_info *info){
  const alike_spec *s = &alike_specs[((table*)v)->bound->function];
  int at[ARGUMENTS], limit = -1, offset = -1, equal = -1, others = 0, unusable = 0, argv = 0, given = 0;
  for(int i=0; i<ARGUMENTS; i++) at[i] = -1;
  for(int i=0; i<info->nConstraint; i++){
    const struct sqlite3_index_constraint *c = &info->aConstraint[i];
    if( c->op==SQLITE_INDEX_CONSTRAINT_LIMIT ){
      if( c->usable ) limit = i;
    }else if( c->op==SQLITE_INDEX_CONSTRAINT_OFFSET ){
      offset = i;
    }else if( c->op==SQLITE_INDEX_CONSTRAINT_EQ && c->iColumn>=s->columns ){
      int k = c->iColumn - s->columns;
      if( !c->usable ) unusable |= 1<<k;
      else if( at[k]<0 ) at[k] = i;
      else others++;
    }else{
      others++;
      /* SQLite has no index on what a function gives, so the function finds the rows
      ** of a value itself; SQLite checks them. */
      if( c->op==SQLITE_INDEX_CONSTRAINT_EQ && c->usable && c->iColumn>=0 && equal<0
          && sqlite3_stricmp(sqlite3_vtab_collation(info, i), "BINARY")==0 ) equal = i;
    }
  }
  for(int k=0; k<s->max; k++){
    if( at[k]>=0 ){
      given |= 1<<k;
      info->aConstraintUsage[at[k]].argvIndex = ++argv;
      info->aConstraintUsage[at[k]].omit = 1;
    }else if( unusable>>k & 1 ){
      return SQLITE_CONSTRAINT;
    }else if( k<s->min ){
      char text[160];
      sqlite3_snprintf(sizeof text, text, "%s: too few arguments: %d, want at least %d", s->name, k, s->min);
      return tableError(v, text, (int)strlen(text), SQLITE_ERROR);
    }
  }
  /* Rows come in one order, and an order is only "consumed" when that is it. */
  int ordered = info->nOrderBy==0;
  if( info->nOrderBy==1 && s->order && info->aOrderBy[0].iColumn==(s->order>0 ? s->order : -s->order)-1
      && info->aOrderBy[0].desc==(s->order<0) ){
    info->orderByConsumed = 1;
    ordered = 1;
  }
  /* A count, or an order that SQLite makes itself, can do with any. */
  if( ordered && info->colUsed ) given |= WITH_ORDER;
  /* A LIMIT counts rows after every other condition, so it may only be taken
  ** when nothing is left for SQLite to check, and then with the OFFSET before it. */
  if( limit>=0 && ordered && others==0 && (offset<0 || info->aConstraint[offset].usable) ){
    given |= WITH_LIMIT;
    info->aConstraintUsage[limit].argvIndex = ++argv;
    if( offset>=0 ){
      given |= WITH_OFFSET;
      info->aConstraintUsage[offset].argvIndex = ++argv;
    }
  }
  info->estimatedCost = 1000;
  info->estimatedRows = 25;
  if( equal>=0 ){
    given |= WITH_EQUAL | info->aConstraint[equal].iColumn<<EQUAL_SHIFT;
    info->aConstraintUsage[equal].argvIndex = ++argv;
    info->estimatedCost = 50;
    info->estimatedRows = 2;
  }
  info->idxNum = given;
  return SQLITE_OK;
}

static int tableOpen(sqlite3_vtab *v, sqlite3_vtab_cursor **pp){
  const alike_spec *s = &alike_specs[((table*)v)->bound->function];
  cursor *c = sqlite3_malloc64(sizeof *c);
  if( c==0 ) return SQLITE_NOMEM;
  memset(c, 0, sizeof *c);
  c->batch.columns = s->columns;
  c->batch.capacity = s->columns>32 ? 1 : 128;
  c->batch.cells = sqlite3_malloc64(sizeof(alike_value)*c->batch.columns*c->batch.capacity);
  if( c->batch.cells==0 ){ sqlite3_free(c); return SQLITE_NOMEM; }
  ((table*)v)->opened = c;
  *pp = &c->base;
  return SQLITE_OK;
}

static void closeHandle(cursor *c, int64_t handle){
  if( handle && !alike_forked ){
    alike_call call;
    begin(&call, ALIKE_CLOSE, ((table*)c->base.pVtab)->bound);
    call.handle = handle;
    alikeCall(&call);
  }
}

static void tableReset(cursor *c){
  closeHandle(c, c->handle);
  c->handle = 0;
  c->row = c->batch.rows = 0;
  c->rowid = 1;
  for(int i=0; i<ARGUMENTS; i++){ sqlite3_value_free(c->given[i]); c->given[i] = 0; }
}

static int tableClose(sqlite3_vtab_cursor *p){
  cursor *c = (cursor*)p;
  table *t = (table*)p->pVtab;
  tableReset(c);
  /* A subquery that is run again opens its cursor anew and then closes the old one,
  ** whose answer the new one may want. */
  if( t->opened==c ) t->opened = 0;
  if( c->kept && t->opened && t->opened->kept==0 ) t->opened->kept = c->kept;
  else closeHandle(c, c->kept);
  sqlite3_free(c->batch.cells);
  sqlite3_free(c->batch.arena);
  sqlite3_free(c);
  return SQLITE_OK;
}

static int fetch(cursor *c, alike_call *call){
  c->row = c->batch.rows = c->batch.used = 0;
  call->batch = &c->batch;
  call->handle = c->handle;
  call->kept = c->kept;
  alikeCall(call);
  c->handle = call->handle;
  c->kept = call->kept;
  if( call->result.type==-1 ){
    c->batch.rows = 0;
    if( call->code==SQLITE_NOMEM ){ sqlite3_free((void*)call->result.p); return (int)call->code; }
    int rc = tableError(c->base.pVtab, call->result.p ? call->result.p : call->small, (int)call->result.n, (int)call->code);
    sqlite3_free((void*)call->result.p);
    return rc;
  }
  return SQLITE_OK;
}

static int tableFilter(sqlite3_vtab_cursor *p, int given, const char *idx, int argc, sqlite3_value **a){
  cursor *c = (cursor*)p;
  const binding *b = ((table*)p->pVtab)->bound;
  const alike_spec *s = &alike_specs[b->function];
  alike_value argv[ARGUMENTS];
  alike_call call;
  int n = 0;
  (void)idx; (void)argc;
  if( alike_forked ) return tableError(p->pVtab, forked, sizeof forked - 1, SQLITE_ERROR);
  if( ((table*)p->pVtab)->opened==c ) ((table*)p->pVtab)->opened = 0;
  tableReset(c);
  for(int k=0; k<s->max; k++){
    if( !(given>>k & 1) ) continue;
    if( !marshal(&argv[n], a[n], s->text>>k & 1) ) return SQLITE_NOMEM;
    if( argv[n].type==SQLITE_NULL && !(s->flags & ALIKE_NULLS) ) return SQLITE_OK;
    if( !(s->flags & ALIKE_NO_ECHO) && (c->given[k] = sqlite3_value_dup(a[n]))==0 ) return SQLITE_NOMEM;
    n++;
  }
  begin(&call, ALIKE_OPEN, b);
  if( given & WITH_EQUAL ){ /* no LIMIT is taken with it */
    if( !marshal(&argv[n], a[n], 0) ) return SQLITE_NOMEM;
    if( argv[n].type==SQLITE_NULL ) return SQLITE_OK;
    call.equal = given>>EQUAL_SHIFT;
  }
  call.argc = n;
  call.argv = argv;
  call.given = given & ((1<<ARGUMENTS)-1);
  call.ordered = (given & WITH_ORDER)!=0;
  if( given & WITH_LIMIT ){
    call.limit = sqlite3_value_int64(a[n]);
    if( call.limit>=0 && (given & WITH_OFFSET) ){
      sqlite3_int64 skip = sqlite3_value_int64(a[n+1]);
      if( skip>0 ) call.limit = call.limit>INT64_MAX-skip ? -1 : call.limit+skip;
    }
  }
  return fetch(c, &call);
}

static int tableNext(sqlite3_vtab_cursor *p){
  cursor *c = (cursor*)p;
  alike_call call;
  c->rowid++;
  if( ++c->row<c->batch.rows || c->handle==0 ) return SQLITE_OK;
  if( alike_forked ) return tableError(p->pVtab, forked, sizeof forked - 1, SQLITE_ERROR);
  begin(&call, ALIKE_NEXT, ((table*)p->pVtab)->bound);
  return fetch(c, &call);
}

static int tableEof(sqlite3_vtab_cursor *p){
  cursor *c = (cursor*)p;
  return c->row>=c->batch.rows;
}

static int tableColumn(sqlite3_vtab_cursor *p, sqlite3_context *x, int i){
  cursor *c = (cursor*)p;
  if( i>=c->batch.columns ){
    i -= (int)c->batch.columns;
    if( i<ARGUMENTS && c->given[i] ) sqlite3_result_value(x, c->given[i]);
    return SQLITE_OK;
  }
  const alike_value *v = &c->batch.cells[c->row*c->batch.columns+i];
  if( (v->type==SQLITE_TEXT || v->type==SQLITE_BLOB) && !fits(x, ((table*)p->pVtab)->bound->function, v->n) ) return SQLITE_OK;
  switch( v->type ){
    case SQLITE_INTEGER: sqlite3_result_int64(x, v->i); break;
    case SQLITE_FLOAT: { double d; memcpy(&d, &v->i, 8); sqlite3_result_double(x, d); break; }
    case SQLITE_TEXT: sqlite3_result_text64(x, v->n ? c->batch.arena+v->i : "", v->n, SQLITE_TRANSIENT, SQLITE_UTF8); break;
    case SQLITE_BLOB: sqlite3_result_blob64(x, v->n ? c->batch.arena+v->i : "", v->n, SQLITE_TRANSIENT); break;
  }
  return SQLITE_OK;
}

static int tableRowid(sqlite3_vtab_cursor *p, sqlite3_int64 *rowid){
  *rowid = ((cursor*)p)->rowid;
  return SQLITE_OK;
}

/* No xCreate: the functions exist by name alone and cannot be made tables. */
static sqlite3_module tables = {
  .iVersion=0, .xConnect=tableConnect, .xBestIndex=tableBest, .xDisconnect=tableDisconnect,
  .xOpen=tableOpen, .xClose=tableClose, .xFilter=tableFilter, .xNext=tableNext, .xEof=tableEof,
  .xColumn=tableColumn, .xRowid=tableRowid
};

/* alike__cell(row, i): the i-th cell of what alike__row gives (row.go), from 1. It is
** called for every column of a row, so without a crossing. */
static void cell(sqlite3_context *x, int n, sqlite3_value **a){
  const unsigned char *p = sqlite3_value_type(a[0])==SQLITE_BLOB ? sqlite3_value_blob(a[0]) : 0;
  int size = sqlite3_value_bytes(a[0]);
  sqlite3_int64 i = sqlite3_value_int64(a[1]) - 1;
  (void)n;
  if( p==0 || size<1+9*p[0] || i<0 || i>=p[0] ) return;
  if( p[1+i]==1 ){
    sqlite3_int64 v;
    memcpy(&v, p+1+p[0]+8*i, 8);
    sqlite3_result_int64(x, v);
  }else if( p[1+i]==2 ){
    sqlite3_result_blob(x, p+1+9*p[0], size-(1+9*p[0]), SQLITE_TRANSIENT);
  }
}

/* A table-valued function where a value is wanted: SQLite would say that there is no
** such function. */
static void misplaced(sqlite3_context *x, int n, sqlite3_value **a){
  const binding *b = sqlite3_user_data(x);
  const alike_spec *s = &alike_specs[b->function];
  char text[160];
  (void)n; (void)a;
  sqlite3_snprintf(sizeof text, text, "%s: the function returns rows; call it in FROM, as in SELECT * FROM %s(...)", s->name, s->name);
  sqlite3_result_error(x, text, -1);
}

static int alikeRegister(sqlite3 *db, char **err, const sqlite3_api_routines *api){
  connection *c;
  alike_call call;
  int rc = SQLITE_OK;
  if( api==0 ) return SQLITE_ERROR; /* a host built with SQLITE_OMIT_LOAD_EXTENSION */
  sqlite3_api = api;
  if( sqlite3_libversion_number()<OLDEST ){
    if( err ) *err = sqlite3_mprintf("alike: SQLite 3.31 or later is needed, this is %s", sqlite3_libversion());
    return SQLITE_ERROR;
  }
  if( alike_forked ){
    if( err ) *err = sqlite3_mprintf("%s", forked);
    return SQLITE_ERROR;
  }
  memset(&call, 0, offsetof(alike_call, small));
  call.op = ALIKE_CONNECT;
  call.db = db;
  alikeCall(&call);
  alike_guard_after_go();
  if( call.result.type==-1 ){
    if( err ) *err = sqlite3_mprintf("%.*s", (int)call.result.n, call.result.p ? (const char*)call.result.p : call.small);
    sqlite3_free((void*)call.result.p);
    return SQLITE_ERROR;
  }
  if( call.conn<0 ) return SQLITE_OK; /* this connection has them already */
  /* A checkin sorts and counts in temporary tables, each with a page cache of 87 KB. Glibc
  ** gives 128 KB at the end of the heap back to the system, so that every checkin would fault
  ** them in anew; once it has freed a larger piece it keeps twice as much as that. */
  sqlite3_free(sqlite3_malloc64(1<<20));
  c = sqlite3_malloc64(sizeof *c + sizeof(binding)*alike_spec_count);
  if( c==0 ){
    call.op = ALIKE_DISCONNECT;
    alikeCall(&call);
    return SQLITE_NOMEM;
  }
  c->db = db;
  c->conn = call.conn;
  c->refs = 1;
  for(int i=0; i<alike_spec_count; i++){
    const alike_spec *s = &alike_specs[i];
    int flags = SQLITE_UTF8;
    if( s->flags & ALIKE_PURE ) flags |= SQLITE_DETERMINISTIC|SQLITE_INNOCUOUS;
    if( s->flags & ALIKE_INNOCUOUS ) flags |= SQLITE_INNOCUOUS;
    if( s->flags & ALIKE_DIRECT ) flags |= SQLITE_DIRECTONLY;
    c->bindings[i].owner = c;
    c->bindings[i].function = i;
    if( s->kind==ALIKE_IS_TABLE ){
      c->refs++;
      rc = sqlite3_create_module_v2(db, s->name, &tables, &c->bindings[i], release);
      if( rc==SQLITE_OK ){
        c->refs++;
        rc = sqlite3_create_function_v2(db, s->name, -1, SQLITE_UTF8|SQLITE_INNOCUOUS, &c->bindings[i], misplaced, 0, 0, release);
      }
    }else for(int n=s->min; n<=s->max && rc==SQLITE_OK; n++){
      c->refs++;
      if( s->kind==ALIKE_IS_SCALAR ){
        rc = sqlite3_create_function_v2(db, s->name, n, flags, &c->bindings[i], scalar, 0, 0, release);
      }else{
        rc = sqlite3_create_function_v2(db, s->name, n, flags, &c->bindings[i], 0, step, finals[n], release);
      }
    }
    if( rc!=SQLITE_OK ) break;
  }
  release(&c->bindings[0]);
  if( rc==SQLITE_OK ){
    rc = sqlite3_create_function_v2(db, "alike__cell", 2, SQLITE_UTF8|SQLITE_DETERMINISTIC|SQLITE_INNOCUOUS, 0, cell, 0, 0, 0);
  }
  return rc;
}

#ifdef _WIN32
__declspec(dllexport)
#else
__attribute__((visibility("default")))
#endif
int sqlite3_alike_init(sqlite3 *db, char **err, const sqlite3_api_routines *api){
  int rc = alikeRegister(db, err, api);
  return rc==SQLITE_OK ? SQLITE_OK_LOAD_PERMANENTLY : rc;
}

/* sqlite3_auto_extension wants a plain SQLITE_OK: after anything else the
** extensions that follow are skipped without a word. */
static int automatic(sqlite3 *db, char **err, const sqlite3_api_routines *api){
  return alikeRegister(db, err, api);
}

/* A Go program has one SQLite linked in, and these are its own entry points; the
** loadable library has none, and does not need them. */
#undef sqlite3_auto_extension
#undef sqlite3_cancel_auto_extension
#undef sqlite3_open
#undef sqlite3_close
__attribute__((weak)) int sqlite3_auto_extension(void(*)(void));
__attribute__((weak)) int sqlite3_cancel_auto_extension(void(*)(void));
__attribute__((weak)) int sqlite3_open(const char*, sqlite3**);
__attribute__((weak)) int sqlite3_close(sqlite3*);

int alike_install(void){
  if( !sqlite3_auto_extension ) return -1;
  return sqlite3_auto_extension((void(*)(void))automatic);
}

void alike_uninstall(void){
  if( sqlite3_cancel_auto_extension ) sqlite3_cancel_auto_extension((void(*)(void))automatic);
}

static const sqlite3_api_routines *linked;
static int learn(sqlite3 *db, char **err, const sqlite3_api_routines *api){
  (void)db; (void)err;
  linked = api;
  return SQLITE_OK;
}

/* The table of SQLite's functions is only given to an extension, so one is
** installed for the opening of a connection that is closed at once. */
int alike_register_handle(void *db, char *message, int n){
  char *err = 0;
  int rc;
  if( linked==0 ){
    sqlite3 *probe = 0;
    if( !sqlite3_auto_extension ) return -1;
    if( (rc = sqlite3_auto_extension((void(*)(void))learn))!=SQLITE_OK ) return rc;
    rc = sqlite3_open(":memory:", &probe);
    sqlite3_close(probe);
    sqlite3_cancel_auto_extension((void(*)(void))learn);
    if( rc!=SQLITE_OK ) return rc;
    if( linked==0 ) return -2;
  }
  rc = alikeRegister(db, &err, linked);
  if( err ){
    sqlite3_api->xsnprintf(n, message, "%s", err);
    sqlite3_api->free(err);
  }
  return rc;
}

/* ---- The caller's own connection ---- */

int alike_prepare(void *db, const char *sql, int size, int keep, int limited, void **stmt, int *used){
  const char *tail = sql;
  int host[LIFTED], n = limited ? 1 : LIFTED, rc;
  lift(db, host, n);
  rc = sqlite3_prepare_v3(db, sql, size, keep ? SQLITE_PREPARE_PERSISTENT : 0, (sqlite3_stmt**)stmt, &tail);
  restore(db, host, n);
  *used = (int)(tail-sql);
  return rc;
}

/* Steps. A statement that is kept is compiled again when the schema has changed, and
** a statement that changes the schema makes SQLite read it. */
static int step_statement(sqlite3_stmt *s){
  sqlite3 *db = sqlite3_db_handle(s);
  int host[LIFTED], rc;
  if( sqlite3_stmt_busy(s) ) return sqlite3_step(s);
  lift(db, host, LIFTED);
  rc = sqlite3_step(s);
  restore(db, host, LIFTED);
  return rc;
}

/* The functions of values take no mutex, unlike those of columns. */
static int read_columns(sqlite3_stmt *s, alike_value *v, int n){
  for(int i=0; i<n; i++){
    sqlite3_value *x = sqlite3_column_value(s, i);
    v[i].type = sqlite3_value_type(x);
    v[i].i = 0; v[i].n = 0; v[i].p = 0;
    switch( v[i].type ){
      case SQLITE_INTEGER: v[i].i = sqlite3_value_int64(x); break;
      case SQLITE_FLOAT: { double d = sqlite3_column_double(s, i); memcpy(&v[i].i, &d, 8); break; }
      case SQLITE_TEXT:
        v[i].p = sqlite3_column_text(s, i);
        if( v[i].p==0 ) return SQLITE_NOMEM;
        v[i].n = sqlite3_column_bytes(s, i);
        break;
      case SQLITE_BLOB:
        v[i].p = sqlite3_column_blob(s, i);
        v[i].n = sqlite3_column_bytes(s, i);
        if( v[i].p==0 && v[i].n>0 ) return SQLITE_NOMEM;
        break;
    }
  }
  return SQLITE_ROW;
}

int alike_step(void *stmt, alike_value *columns, int n){
  int rc = step_statement(stmt);
  if( rc==SQLITE_ROW && n>0 ) return read_columns(stmt, columns, n);
  return rc;
}

/* Reads at most `rows` rows of integers; a NULL reads 0. */
int alike_scan(void *stmt, int64_t *out, int rows, int columns, int *got){
  int rc = SQLITE_ROW;
  for(*got=0; *got<rows; ++*got){
    if( (rc = step_statement(stmt))!=SQLITE_ROW ) return rc;
    for(int i=0; i<columns; i++) *out++ = sqlite3_column_int64(stmt, i);
  }
  return rc;
}

/* Steps a source to its next row. */
static int next_couple(alike_source *s){
  int rc = step_statement(s->stmt);
  s->state = rc;
  if( rc==SQLITE_ROW ){
    s->value = sqlite3_column_int64(s->stmt, 0);
    s->row = sqlite3_column_int64(s->stmt, 1);
  }
  return rc==SQLITE_DONE ? SQLITE_ROW : rc;
}

/* Merges the rows of n statements. Each gives two integers, ordered by the first. Returns the
** rows whose first another row has too: most features are of one row only, and need not cross
** to Go. Ends with SQLITE_ROW when out is full. */
int alike_runs(alike_source *sources, int n, int64_t *out, int couples, alike_run *last, int *got){
  enum { NONE, HELD, GIVEN };
  int rc;
  *got = 0;
  for(int i=0; i<n; i++){
    if( sources[i].state==0 && (rc = next_couple(&sources[i]))!=SQLITE_ROW ) return rc;
  }
  while( *got+2<=couples ){
    alike_source *least = 0;
    int others = 0;  /* whether the next rows of other sources can be less */
    int64_t bound = 0;
    for(int i=0; i<n; i++){
      alike_source *s = &sources[i];
      if( s->state!=SQLITE_ROW ) continue;
      if( least==0 ){ least = s; continue; }
      int64_t more = s->value;
      if( more<least->value ){ more = least->value; least = s; }
      if( !others || more<bound ){ bound = more; others = 1; }
    }
    if( least==0 ) return SQLITE_DONE;
    do{
      int64_t value = least->value, row = least->row;
      if( last->state!=NONE && value==last->value ){
        if( last->state==HELD ){ *out++ = value; *out++ = last->row; ++*got; }
        *out++ = value; *out++ = row; ++*got;
        last->state = GIVEN;
      }else{
        last->value = value; last->row = row; last->state = HELD;
      }
      if( (rc = next_couple(least))!=SQLITE_ROW ) return rc;
    }while( *got+2<=couples && least->state==SQLITE_ROW && (!others || least->value<=bound) );
  }
  return SQLITE_ROW;
}

int alike_bind(void *stmt, int i, int type, int64_t v, const void *p, int64_t n){
  switch( type ){
    case SQLITE_INTEGER: return sqlite3_bind_int64(stmt, i, v);
    case SQLITE_FLOAT: { double d; memcpy(&d, &v, 8); return sqlite3_bind_double(stmt, i, d); }
    case SQLITE_TEXT: return sqlite3_bind_text64(stmt, i, n ? p : "", n, SQLITE_TRANSIENT, SQLITE_UTF8);
    case SQLITE_BLOB: return n ? sqlite3_bind_blob64(stmt, i, p, n, SQLITE_TRANSIENT) : sqlite3_bind_zeroblob(stmt, i, 0);
    default: return sqlite3_bind_null(stmt, i);
  }
}

int alike_column_count(void *stmt){ return sqlite3_column_count(stmt); }
int alike_reset(void *stmt){ return sqlite3_reset(stmt); }
int alike_finalize(void *stmt){ return sqlite3_finalize(stmt); }
const char *alike_message(void *db){ return sqlite3_errmsg(db); }
int alike_limit(void *db, int number){ return sqlite3_limit(db, number, -1); }
int64_t alike_changes(void *db){ return sqlite3_changes(db); }
int alike_autocommit(void *db){ return sqlite3_get_autocommit(db); }

/* Rolls back whatever is open, when ROLLBACK itself is interrupted or refused: a
** statement that writes and is interrupted rolls everything back, and opening a
** blob steps a statement that needs neither the parser nor an authorizer. The interrupt
** lasts until the caller's statement ends, which fails anyway. */
void alike_roll_back(void *db){
  sqlite3_blob *blob = 0;
  sqlite3_interrupt(db);
  sqlite3_blob_open(db, "main", "sqlite_master", "sql", 1, 1, &blob);
  sqlite3_blob_close(blob);
}

/* Whether a name in double quotes that no column has is a text. Returns what the
** settings were, for DML and for DDL. */
int alike_loose_quotes(void *db, int on){
  int dml = 0, ddl = 0;
  sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, -1, &dml);
  sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DDL, -1, &ddl);
  sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, on & 1, (int*)0);
  sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DDL, on>>1 & 1, (int*)0);
  return dml | ddl<<1;
}

/* Returns what the setting was. */
int alike_legacy_rename(void *db, int on){
  int was = 0;
  sqlite3_db_config(db, SQLITE_DBCONFIG_LEGACY_ALTER_TABLE, -1, &was);
  sqlite3_db_config(db, SQLITE_DBCONFIG_LEGACY_ALTER_TABLE, on, (int*)0);
  return was;
}

void alike_log(const char *message){ sqlite3_log(SQLITE_WARNING, "%s", message); }
void *alike_malloc(int64_t n){ return sqlite3_malloc64(n); }

int alike_column_metadata(void *db, const char *schema, const char *table, const char *column,
  const char **type, const char **collation){
  /* SQLite 3.53.4 reads past the columns of a virtual table whose module is missing, which
  ** it has not connected. So it is made to connect, or to refuse. Either call can make
  ** SQLite read the schema. */
  sqlite3_stmt *s = 0;
  char *sql = sqlite3_mprintf("SELECT 1 FROM \"%w\".\"%w\"", schema, table);
  int host[LIFTED], rc;
  if( sql==0 ) return SQLITE_NOMEM;
  lift(db, host, LIFTED);
  rc = sqlite3_prepare_v2(db, sql, -1, &s, 0);
  sqlite3_free(sql);
  sqlite3_finalize(s);
  if( rc==SQLITE_OK ) rc = sqlite3_table_column_metadata(db, schema, table, column, type, collation, 0, 0, 0);
  restore(db, host, LIFTED);
  return rc==SQLITE_AUTH ? SQLITE_OK : rc; /* what comes next says so */
}

/* Makes room for more bytes in the arena. Returns 0 when memory ran out. */
int alike_grow(alike_batch *b, int64_t more){
  if( b->used+more<=b->size ) return 1;
  int64_t size = b->size*2>b->used+more ? b->size*2 : b->used+more;
  char *p;
  if( size<4096 ) size = 4096;
  p = sqlite3_realloc64(b->arena, size);
  if( p==0 ) return 0;
  b->arena = p;
  b->size = size;
  return 1;
}
