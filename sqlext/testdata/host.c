/* A host that fails. It runs the statements of a script one after the other.
** Each is tried from the same state again and again, alone and inside a
** transaction of the caller's, while something fails at its n-th step, for every
** n (or, past the first ones, a sample of them):
**
**   memory     the n-th allocation fails
**   disk       the n-th write or sync fails
**   interrupt  sqlite3_interrupt is called at the n-th step of the machine
**   deadline   the progress handler stops everything from the n-th step on
**   authorizer everything is refused from the n-th question on
**   none       nothing fails
**
** Afterwards the connection is in autocommit, or still in the caller's
** transaction; the statement is done or undone, whole; or, for a fill, running
** it again gives what one run gives. The database is intact and writable.
**
** usage: host LIBRARY SCRIPT FAILURE DENSITY
** A line of the script is a statement. One that begins with a dot is not tried,
** only run; "~" marks a fill. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static sqlite3_mem_methods real;
static long countdown = -1; /* until the failure; negative is none */
static int failed;
static enum { NONE, MEMORY, DISK, INTERRUPT, DEADLINE, AUTHORIZER } kind;
static const char *const kinds[] = {"none", "memory", "disk", "interrupt", "deadline", "authorizer"};

static int fails(void){
  if( countdown<0 || countdown-->0 ) return 0;
  failed = 1;
  return 1;
}

static void *xMalloc(int n){ return kind==MEMORY && fails() ? 0 : real.xMalloc(n); }
static void *xRealloc(void *p, int n){ return kind==MEMORY && fails() ? 0 : real.xRealloc(p, n); }

/* A VFS that fails to write, with a full disk. */
typedef struct { sqlite3_file base; sqlite3_io_methods methods; } file;
static sqlite3_vfs *unixVfs;
#define REAL(f) ((sqlite3_file*)((file*)(f)+1))
static int fClose(sqlite3_file *f){ return REAL(f)->pMethods->xClose(REAL(f)); }
static int fRead(sqlite3_file *f, void *p, int n, sqlite3_int64 o){ return REAL(f)->pMethods->xRead(REAL(f), p, n, o); }
static int fWrite(sqlite3_file *f, const void *p, int n, sqlite3_int64 o){ return fails() ? SQLITE_FULL : REAL(f)->pMethods->xWrite(REAL(f), p, n, o); }
static int fTruncate(sqlite3_file *f, sqlite3_int64 n){ return REAL(f)->pMethods->xTruncate(REAL(f), n); }
static int fSync(sqlite3_file *f, int flags){ (void)f; (void)flags; return fails() ? SQLITE_IOERR_FSYNC : SQLITE_OK; }
static int fFileSize(sqlite3_file *f, sqlite3_int64 *n){ return REAL(f)->pMethods->xFileSize(REAL(f), n); }
static int fLock(sqlite3_file *f, int l){ return REAL(f)->pMethods->xLock(REAL(f), l); }
static int fUnlock(sqlite3_file *f, int l){ return REAL(f)->pMethods->xUnlock(REAL(f), l); }
static int fReserved(sqlite3_file *f, int *r){ return REAL(f)->pMethods->xCheckReservedLock(REAL(f), r); }
static int fControl(sqlite3_file *f, int op, void *p){ return REAL(f)->pMethods->xFileControl(REAL(f), op, p); }
static int fSector(sqlite3_file *f){ return REAL(f)->pMethods->xSectorSize(REAL(f)); }
static int fDevice(sqlite3_file *f){ return REAL(f)->pMethods->xDeviceCharacteristics(REAL(f)); }
static const sqlite3_io_methods methods = {
  1, fClose, fRead, fWrite, fTruncate, fSync, fFileSize, fLock, fUnlock, fReserved, fControl, fSector, fDevice,
  0, 0, 0, 0, 0, 0
};
static int vOpen(sqlite3_vfs *v, const char *name, sqlite3_file *f, int flags, int *out){
  (void)v;
  f->pMethods = 0;
  int rc = unixVfs->xOpen(unixVfs, name, REAL(f), flags, out);
  if( rc==SQLITE_OK ) f->pMethods = &methods;
  return rc;
}

/* Until a statement ends, so that its undoing is interrupted too. */
static int xProgress(void *db){
  if( countdown<0 ) return 0;
  if( countdown>0 ){ countdown--; return 0; }
  if( kind==INTERRUPT && !failed ) sqlite3_interrupt(db);
  failed = 1;
  return kind==DEADLINE;
}
static int xAuthorize(void *p, int op, const char *a, const char *b, const char *c, const char *d){
  (void)p; (void)op; (void)a; (void)b; (void)c; (void)d;
  if( countdown<0 ) return SQLITE_OK;
  if( countdown>0 ){ countdown--; return SQLITE_OK; }
  failed = 1;
  return SQLITE_DENY;
}

/* Growing text, out of SQLite's memory's way. */
typedef struct text { char *p; size_t n, size; } text;
static void add(text *t, const char *s, size_t n){
  if( t->n+n+1>t->size ) t->p = realloc(t->p, t->size = 2*(t->n+n+1));
  memcpy(t->p+t->n, s, n);
  t->n += n;
  t->p[t->n] = 0;
}
static void addText(text *t, const char *s){ add(t, s, strlen(s)); }

static char path[200], folder[160];
static const char *library, *statement;
static int inside;

static void die(const char *what, long n, sqlite3 *db, int rc){
  printf("%s at %ld%s, %s\n%s: %d %s\n", kinds[kind], n, inside ? " in a transaction" : "", statement, what, rc, db ? sqlite3_errmsg(db) : "");
  exit(1);
}

/* Returns SQLITE_NOMEM when there is no memory for a text. */
static int addRow(text *t, sqlite3_stmt *s){
  for(int i=0; i<sqlite3_column_count(s); i++){
    const char *name = sqlite3_column_name(s, i);
    size_t n = strlen(name);
    /* The time, and what is drawn by lot. */
    if( (n>3 && strcmp(name+n-3, "_at")==0) || strcmp(name, "stamp")==0 || strcmp(name, "oldest")==0 ) continue;
    addText(t, "|");
    if( sqlite3_column_type(s, i)==SQLITE_BLOB || sqlite3_column_bytes(s, i)>2000 ){
      const unsigned char *p = sqlite3_column_blob(s, i);
      unsigned long long h = 14695981039346656037ULL;
      char hash[40];
      if( p==0 && sqlite3_column_bytes(s, i)>0 ) return SQLITE_NOMEM;
      for(int j=0; j<sqlite3_column_bytes(s, i); j++) h = (h ^ p[j]) * 1099511628211ULL;
      snprintf(hash, sizeof hash, "%llx", h);
      addText(t, hash);
    }else if( sqlite3_column_type(s, i)!=SQLITE_NULL ){
      const char *value = (const char*)sqlite3_column_text(s, i);
      if( value==0 ) return SQLITE_NOMEM;
      /* A trigger calls this function with a stamp. */
      for(const char *call; strcmp(name, "sql")==0 && (call = strstr(value, "alike__step("))!=0; value = strchr(call, ')')) add(t, value, call-value);
      addText(t, value);
    }
  }
  addText(t, "\n");
  return SQLITE_ROW;
}

static int compare(const void *x, const void *y){ return strcmp(*(char*const*)x, *(char*const*)y); }

/* Everything that the database holds, its lines sorted. */
static char *state(sqlite3 *db, long n){
  text all = {0};
  sqlite3_stmt *s;
  for(int temp=0; temp<2; temp++){
    if( sqlite3_prepare_v2(db, temp ? "SELECT type, name, tbl_name, sql FROM temp.sqlite_master" : "SELECT type, name, tbl_name, sql FROM main.sqlite_master", -1, &s, 0)!=SQLITE_OK ) die("schema", n, db, 0);
    while( sqlite3_step(s)==SQLITE_ROW ){
      addText(&all, "schema");
      addRow(&all, s);
      if( strcmp((const char*)sqlite3_column_text(s, 0), "table") ) continue;
      char *query = sqlite3_mprintf("SELECT * FROM %s.\"%w\"", temp ? "temp" : "main", sqlite3_column_text(s, 1));
      sqlite3_stmt *rows;
      int rc = sqlite3_prepare_v2(db, query, -1, &rows, 0);
      if( rc!=SQLITE_OK ) die(query, n, db, rc);
      while( (rc = sqlite3_step(rows))==SQLITE_ROW ){
        addText(&all, (const char*)sqlite3_column_text(s, 1));
        addRow(&all, rows);
      }
      if( rc!=SQLITE_DONE ) die(query, n, db, rc);
      sqlite3_finalize(rows);
      sqlite3_free(query);
    }
    sqlite3_finalize(s);
  }
  if( all.p==0 ) return strdup("");
  size_t lines = 0, i = 0;
  for(char *p=all.p; *p; p++) lines += *p=='\n';
  char **line = malloc(sizeof *line*(lines+1));
  for(char *p=strtok(all.p, "\n"); p; p=strtok(0, "\n")) line[i++] = p;
  qsort(line, i, sizeof *line, compare);
  text sorted = {0};
  for(size_t j=0; j<i; j++){ addText(&sorted, line[j]); addText(&sorted, "\n"); }
  free(line);
  free(all.p);
  return sorted.p;
}

static void differ(const char *a, const char *b){
  while( *a || *b ){
    const char *x = strchr(a, '\n'), *y = strchr(b, '\n');
    int n = x ? (int)(x-a) : (int)strlen(a), m = y ? (int)(y-b) : (int)strlen(b), order;
    order = !*a ? 1 : !*b ? -1 : strncmp(a, b, n<m ? n : m);
    if( order==0 ) order = n-m;
    if( order<0 ) printf("- %.*s\n", n>300 ? 300 : n, a);
    if( order>0 ) printf("+ %.*s\n", m>300 ? 300 : m, b);
    if( order<=0 ) a += n+(x!=0);
    if( order>=0 ) b += m+(y!=0);
  }
}

typedef struct image { unsigned char *p; sqlite3_int64 n; } image;

/* A connection to a database that is the image. */
static sqlite3 *openImage(const image *from, long n){
  sqlite3 *db = 0;
  char *err = 0;
  int rc;
  if( kind==DISK ){
    char journal[220];
    snprintf(journal, sizeof journal, "%s-journal", path);
    unlink(journal);
    FILE *f = fopen(path, "wb");
    if( f==0 || (from->n && fwrite(from->p, 1, from->n, f)!=(size_t)from->n) ) die("image", n, 0, 0);
    fclose(f);
  }
  rc = sqlite3_open_v2(kind==DISK ? path : ":memory:", &db, SQLITE_OPEN_READWRITE|SQLITE_OPEN_CREATE, kind==DISK ? "failing" : 0);
  if( rc!=SQLITE_OK ) die("open", n, db, rc);
  if( kind!=DISK && from->n ){
    unsigned char *copy = sqlite3_malloc64(from->n);
    memcpy(copy, from->p, from->n);
    rc = sqlite3_deserialize(db, "main", copy, from->n, from->n, SQLITE_DESERIALIZE_FREEONCLOSE|SQLITE_DESERIALIZE_RESIZEABLE);
    if( rc!=SQLITE_OK ) die("deserialize", n, db, rc);
  }
  sqlite3_enable_load_extension(db, 1);
  rc = sqlite3_load_extension(db, library, 0, &err);
  if( rc!=SQLITE_OK ) die(err ? err : "load", n, db, rc);
  return db;
}

static void closeImage(sqlite3 *db, long n){
  int rc = sqlite3_close(db);
  if( rc!=SQLITE_OK ) die("close", n, db, rc);
}

/* Runs a statement to its end and gathers its rows. */
static int run(sqlite3 *db, const char *sql, text *rows){
  sqlite3_stmt *s = 0;
  int rc = sqlite3_prepare_v2(db, sql, -1, &s, 0);
  if( rc==SQLITE_OK ){
    while( (rc = sqlite3_step(s))==SQLITE_ROW && (rows==0 || (rc = addRow(rows, s))==SQLITE_ROW) ){}
    if( rc==SQLITE_DONE ) rc = SQLITE_OK;
  }
  sqlite3_finalize(s);
  return rc;
}

static void must(sqlite3 *db, const char *sql, long n){
  int rc = run(db, sql, 0);
  if( rc!=SQLITE_OK ) die(sql, n, db, rc);
}

static void answers(sqlite3 *db, const char *sql, const char *want, long n){
  text got = {0};
  int rc = run(db, sql, &got);
  if( rc!=SQLITE_OK || strcmp(got.p ? got.p : "", want)!=0 ){ printf("got %s", got.p ? got.p : "nothing\n"); die(sql, n, db, rc); }
  free(got.p);
}

/* One failure. Returns 0 when nothing failed any more. */
static int try(const image *from, const char *sql, int fill, int error, long n, const char *before, const char *after, const char *want){
  sqlite3 *db = openImage(from, n);
  text rows = {0};
  char *now, answer[200], again[200];
  int rc;
  if( inside ){ must(db, "BEGIN", n); must(db, "INSERT INTO log VALUES ('mine')", n); }
  failed = 0;
  if( kind==INTERRUPT || kind==DEADLINE ) sqlite3_progress_handler(db, 1, xProgress, db);
  if( kind==AUTHORIZER ) sqlite3_set_authorizer(db, xAuthorize, 0);
  countdown = n;
  rc = run(db, sql, &rows);
  countdown = -1;
  snprintf(answer, sizeof answer, "%s", sqlite3_errmsg(db));
  sqlite3_progress_handler(db, 0, 0, 0);
  sqlite3_set_authorizer(db, 0, 0);
  if( rc==SQLITE_CORRUPT || strstr(answer, "internal error") || (rc!=SQLITE_OK && !failed && !error) ) die("error", n, db, rc);
  if( rc==SQLITE_OK && want && kind!=AUTHORIZER && strcmp(rows.p ? rows.p : "", want)!=0 ){
    printf("%s%s", rows.p ? rows.p : "nothing\n", want);
    die("other rows than without a failure", n, db, rc);
  }
  int ended = sqlite3_get_autocommit(db);
  if( !inside && !ended ){ printf("%s\n", answer); die("a transaction is left open", n, 0, rc); }
  if( inside && ended && (rc==SQLITE_OK || kind==AUTHORIZER) ){ printf("%s\n", answer); die("the caller's transaction is gone", n, db, rc); }
  if( inside && !ended ){
    if( run(db, "RELEASE alike", 0)==SQLITE_OK && kind!=AUTHORIZER ) die("a savepoint is left", n, db, rc);
    answers(db, "SELECT count(*) FROM log WHERE x = 'mine'", "|1\n", n);
    must(db, "COMMIT", n);
    must(db, "DELETE FROM log WHERE x = 'mine'", n);
  }
  now = state(db, n);
  if( fill && rc!=SQLITE_OK && failed && strcmp(now, before)!=0 ){
    rc = run(db, sql, 0);
    snprintf(again, sizeof again, "%s", sqlite3_errmsg(db));
    free(now);
    now = state(db, n);
    if( rc!=SQLITE_OK && strcmp(now, after)!=0 ){
      printf("%s\n%s\n", answer, again);
      differ(after, now);
      die("going on", n, 0, rc);
    }
  }
  /* What is interrupted when its work is done is done. */
  if( strcmp(now, after)!=0 && (rc==SQLITE_OK || strcmp(now, before)!=0) ){
    printf("%s\n", answer);
    differ(rc==SQLITE_OK ? after : before, now);
    die(rc==SQLITE_OK ? "not what one run gives" : "not undone", n, 0, rc);
  }
  answers(db, "PRAGMA legacy_alter_table", "|0\n", n);
  answers(db, "PRAGMA integrity_check", "|ok\n", n);
  must(db, "INSERT INTO d(body) VALUES ('words that no other row has at all, not one of them ' || random())", n);
  must(db, "SELECT * FROM alike_status()", n);
  free(now);
  free(rows.p);
  closeImage(db, n);
  return failed;
}

int main(int argc, char **argv){
  image now = {0};
  char line[4000];
  long density, places = 0, statements = 0;
  if( argc<5 ) return 2;
  library = argv[1];
  while( kind<AUTHORIZER && strcmp(argv[3], kinds[kind])!=0 ) kind++;
  density = atol(argv[4]);
  sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real);
  sqlite3_mem_methods mine = real;
  mine.xMalloc = xMalloc;
  mine.xRealloc = xRealloc;
  sqlite3_config(SQLITE_CONFIG_MALLOC, &mine);
  sqlite3_config(SQLITE_CONFIG_SINGLETHREAD); /* a quarter of the time would go into mutexes */
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  unixVfs = sqlite3_vfs_find(0);
  sqlite3_vfs vfs = *unixVfs;
  vfs.zName = "failing";
  vfs.szOsFile = sizeof(file)+unixVfs->szOsFile;
  vfs.xOpen = vOpen;
  vfs.iVersion = 1;
  sqlite3_vfs_register(&vfs, 0);
  snprintf(folder, sizeof folder, "%s/alike-host-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
  if( mkdtemp(folder)==0 ) return 2;
  snprintf(path, sizeof path, "%s/host.db", folder);
  FILE *f = fopen(argv[2], "r");
  if( f==0 ) return 2;
  while( fgets(line, sizeof line, f) ){
    char *sql = line, *before, *after;
    int fill = 0, untried = 0, error;
    text rows = {0};
    if( *sql=='\n' || strncmp(sql, "--", 2)==0 ) continue;
    for(; *sql=='.' || *sql=='~'; sql++){ if( *sql=='.' ) untried = 1; else fill = 1; }
    statement = sql;
    inside = 0;
    sqlite3 *db = openImage(&now, -1);
    before = state(db, -1);
    int rc = run(db, sql, &rows);
    error = rc!=SQLITE_OK;
    if( error && rc!=SQLITE_CONSTRAINT && kind!=NONE ) die("without a failure", -1, db, rc);
    after = state(db, -1);
    image next;
    next.p = sqlite3_serialize(db, "main", &next.n, 0);
    closeImage(db, -1);
    if( kind!=NONE && !untried ) for(inside=0; inside<2; inside++){
      for(long n=0; try(&now, sql, fill, error, n, before, after, error ? 0 : rows.p ? rows.p : ""); n++){
        places++;
        if( n>density ) n += 2*n/density;
      }
    }
    statements++;
    sqlite3_free(now.p);
    now = next;
    free(before); free(after); free(rows.p);
  }
  fclose(f);
  sqlite3_free(now.p);
  unlink(path);
  rmdir(folder);
  printf("ok, %ld statements, %ld failures\n", statements, places);
  return 0;
}
