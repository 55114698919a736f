/* A host that makes memory and files fail, one place after the other, and
** looks whether the extension and the database bear it.
**
**   host LIBRARY SCRIPT memory|disk|none
**
** The script runs again and again, with the first, the second, the third
** allocation (or write) failing, until it runs to its end without one. Each time
** the only errors allowed are those of memory and files, the connection must
** close, and the database must pass integrity_check. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static sqlite3_mem_methods real;
static long countdown = -1; /* until the failure; negative is none */
static int failed;

static int fails(void){
  if( countdown<0 || countdown-->0 ) return 0;
  failed = 1;
  return 1;
}

static int inMemory;
static void *xMalloc(int n){ return inMemory && fails() ? 0 : real.xMalloc(n); }
static void *xRealloc(void *p, int n){ return inMemory && fails() ? 0 : real.xRealloc(p, n); }

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

static int anything; /* a suite that provokes errors on purpose */
static int allowed(int rc){
  rc &= 0xff;
  if( anything && rc!=SQLITE_CORRUPT ) return 1;
  return rc==SQLITE_OK || rc==SQLITE_NOMEM || rc==SQLITE_FULL || rc==SQLITE_IOERR || rc==SQLITE_CANTOPEN || rc==SQLITE_ABORT;
}

static int rows(void *p, int n, char **v, char **names){ (void)n; (void)v; (void)names; ++*(int*)p; return 0; }
static int text(void *p, int n, char **v, char **names){ (void)n; (void)names; snprintf(p, 200, "%s", v[0] ? v[0] : ""); return 0; }

static void die(const char *what, long n, sqlite3 *db, int rc){
  printf("failure %ld, %s: %d %s\n", n, what, rc, db ? sqlite3_errmsg(db) : "");
  exit(1);
}

/* Runs the statements of the script one by one, so that one that fails does not
** keep the others from being tried. */
static void script(sqlite3 *db, const char *sql, long n){
  while( *sql ){
    sqlite3_stmt *s = 0;
    const char *tail = sql;
    int rc = sqlite3_prepare_v2(db, sql, -1, &s, &tail);
    if( rc==SQLITE_OK ) while( (rc = sqlite3_step(s))==SQLITE_ROW ){}
    if( rc==SQLITE_DONE || rc==SQLITE_MISUSE ) rc = SQLITE_OK;
    if( !allowed(rc) && !failed ) die(sql, n, db, rc);
    if( rc==SQLITE_CORRUPT ) die(sql, n, db, rc);
    sqlite3_finalize(s);
    if( tail==sql ){
      /* Nothing was read, for want of memory: go to the next line's statement. */
      tail = strstr(sql, ";\n");
      if( tail==0 ) return;
      tail += 2;
    }
    sql = tail;
  }
}

int main(int argc, char **argv){
  char *sql, *err = 0;
  int onDisk, count;
  long n, last = 0;
  FILE *f;
  if( argc<4 ) return 2;
  inMemory = strcmp(argv[3], "memory")==0;
  onDisk = strcmp(argv[3], "disk")==0;
  anything = strcmp(argv[3], "none")==0;
  f = fopen(argv[2], "r");
  if( f==0 ) return 2;
  fseek(f, 0, SEEK_END);
  n = ftell(f);
  rewind(f);
  sql = malloc(n+1);
  sql[fread(sql, 1, n, f)] = 0;
  fclose(f);
  sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real);
  sqlite3_mem_methods mine = real;
  mine.xMalloc = xMalloc;
  mine.xRealloc = xRealloc;
  sqlite3_config(SQLITE_CONFIG_MALLOC, &mine);
  unixVfs = sqlite3_vfs_find(0);
  sqlite3_vfs vfs = *unixVfs;
  vfs.zName = "failing";
  vfs.szOsFile = sizeof(file)+unixVfs->szOsFile;
  vfs.xOpen = vOpen;
  vfs.iVersion = 1;
  if( onDisk ) sqlite3_vfs_register(&vfs, 0);
  char name[] = "/tmp/alike-host-XXXXXX";
  if( mkdtemp(name)==0 ) return 2;
  char path[100];
  snprintf(path, sizeof path, "%s/host.db", name);
  for(n=0; ; n++){
    sqlite3 *db = 0;
    char answer[200] = "";
    int rc, loaded;
    unlink(path);
    rc = sqlite3_open_v2(onDisk ? path : ":memory:", &db, SQLITE_OPEN_READWRITE|SQLITE_OPEN_CREATE, onDisk ? "failing" : 0);
    if( rc!=SQLITE_OK ) die("open", n, db, rc);
    sqlite3_enable_load_extension(db, 1);
    /* The memory that loading takes fails too. */
    failed = 0;
    countdown = inMemory ? n : -1;
    rc = sqlite3_load_extension(db, argv[1], 0, &err);
    if( rc!=SQLITE_OK && !failed ) die(err ? err : "load", n, db, rc);
    loaded = rc==SQLITE_OK;
    sqlite3_free(err);
    err = 0;
    if( onDisk ) countdown = n;
    script(db, sql, n);
    countdown = -1;
    if( !sqlite3_get_autocommit(db) ) sqlite3_exec(db, "ROLLBACK", 0, 0, 0);
    count = 0;
    rc = sqlite3_exec(db, "PRAGMA integrity_check", text, answer, 0);
    if( rc!=SQLITE_OK || strcmp(answer, "ok")!=0 ) die(answer, n, db, rc);
    /* What is attached can be brought up to date afterwards. */
    if( loaded && sqlite3_table_column_metadata(db, 0, "d_alike", 0, 0, 0, 0, 0, 0)==SQLITE_OK ){
      rc = sqlite3_exec(db, "SELECT alike_refresh('d')", 0, 0, 0);
      if( rc!=SQLITE_OK ) die("refresh", n, db, rc);
      rc = sqlite3_exec(db, "SELECT 1 FROM d LEFT JOIN d_alike a USING (id) WHERE a.content_hash IS NOT alike__content_hash(d.body)", rows, &count, 0);
      if( rc!=SQLITE_OK || count ) die("the side table is not exact", n, db, rc);
    }
    rc = sqlite3_close(db);
    if( rc!=SQLITE_OK ) die("close", n, db, rc);
    if( !failed ) break;
    last = n+1;
    /* The places are many and alike; the later ones are sampled. */
    if( n>200 ) n += n/50;
  }
  unlink(path);
  rmdir(name);
  printf("ok, %ld places fail\n", last);
  free(sql);
  return 0;
}
