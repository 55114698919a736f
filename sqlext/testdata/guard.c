/* What a host can do to a library with a Go runtime in it.
**
**   guard LIBRARY CASE [DATABASE]
*/
#define _GNU_SOURCE
#include "../sqlite3ext.h"
#undef sqlite3_open
#undef sqlite3_open_v2
#undef sqlite3_close
#undef sqlite3_exec
#undef sqlite3_errmsg
#undef sqlite3_free
#undef sqlite3_mprintf
#undef sqlite3_busy_timeout
#undef sqlite3_load_extension
#undef sqlite3_enable_load_extension
#undef sqlite3_interrupt
#undef sqlite3_memory_used
#undef sqlite3_prepare_v2
#undef sqlite3_step
#undef sqlite3_finalize
#undef sqlite3_close_v2
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *library, *database = ":memory:";

static void die(const char *what, const char *why){ printf("%s: %s\n", what, why ? why : ""); exit(1); }

static sqlite3 *opened(const char *name){
  sqlite3 *db;
  char *err = 0;
  if( sqlite3_open(name, &db)!=SQLITE_OK ) die("open", sqlite3_errmsg(db));
  sqlite3_busy_timeout(db, 600000);
  sqlite3_enable_load_extension(db, 1);
  if( sqlite3_load_extension(db, library, 0, &err)!=SQLITE_OK ) die("load", err);
  return db;
}

static void run(sqlite3 *db, const char *sql){
  char *err = 0;
  if( sqlite3_exec(db, sql, 0, 0, &err)!=SQLITE_OK ) die(sql, err);
}

static void closed(sqlite3 *db){ if( sqlite3_close(db)!=SQLITE_OK ) die("close", sqlite3_errmsg(db)); }

/* The child of a fork gets an error where it would have hung. */
static void forking(void){
  sqlite3 *db = opened(":memory:");
  run(db, "SELECT alike_sketch('before')");
  run(db, "CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT); SELECT alike_attach('d', 'body'); SELECT * FROM alike_pairs('d')");
  fflush(stdout);
  pid_t child = fork();
  if( child==0 ){
    static const char *const calls[] = {"SELECT alike_sketch('x')", "SELECT alike_merge('x')", "SELECT * FROM alike_features('x')", "INSERT INTO d(body) VALUES ('x')", "SELECT alike_refresh('d')"};
    alarm(20);
    for(int i=0; i<5; i++){
      char *err = 0;
      if( sqlite3_exec(db, calls[i], 0, 0, &err)==SQLITE_OK || !strstr(err, "was forked after the extension was loaded") ) die(calls[i], err);
    }
    sqlite3 *other;
    char *err = 0;
    sqlite3_open(":memory:", &other);
    sqlite3_enable_load_extension(other, 1);
    if( sqlite3_load_extension(other, library, 0, &err)==SQLITE_OK || !strstr(err, "was forked") ) die("load in the child", err);
    closed(other);
    _exit(0); /* SQLite forbids the child to touch the parent's connection, even to close it */
  }
  int status;
  waitpid(child, &status, 0);
  if( status!=0 ) die("the child", "failed");
  run(db, "SELECT alike_sketch('after')");
  closed(db);
  /* A child that loads it itself uses it. */
}

static void loadInChild(void){
  if( fork()==0 ){
    alarm(20);
    sqlite3 *db = opened(":memory:");
    run(db, "SELECT alike_sketch('x')");
    closed(db);
    _exit(0);
  }
  int status;
  wait(&status);
  if( status!=0 ) die("the child", "failed");
}

static void urgent(int n){ (void)n; }

static void signals(void){
  struct sigaction mine = {.sa_handler = urgent}, now;
  sigaction(SIGURG, &mine, 0);
  sqlite3 *db = opened(":memory:");
  run(db, "SELECT alike_sketch('x')");
  sigaction(SIGURG, 0, &now);
  if( now.sa_handler!=urgent ) die("SIGURG", "the host's handler is gone");
  closed(db);
}

/* SQLite unloads a library whose entry point is not there. */
static void entry(void){
  for(int i=0; i<3; i++){
    sqlite3 *db;
    char *err = 0;
    sqlite3_open(":memory:", &db);
    sqlite3_enable_load_extension(db, 1);
    if( sqlite3_load_extension(db, library, "no_such_entry", &err)==SQLITE_OK ) die("load", "an entry point that is not there");
    sqlite3_free(err);
    closed(db);
    usleep(50000);
    db = opened(":memory:");
    run(db, "SELECT alike_sketch('x')");
    closed(db);
  }
}

static int ancient(void){ return 3030001; }
static const char *ancientText(void){ return "3.30.1"; }

static void version(void){
  static sqlite3_api_routines api;
  char *err = 0;
  api.libversion_number = ancient;
  api.libversion = ancientText;
  api.mprintf = sqlite3_mprintf;
  api.free = sqlite3_free;
  void *so = dlopen(library, RTLD_NOW);
  if( so==0 ) die("dlopen", dlerror());
  int (*init)(sqlite3*, char**, const sqlite3_api_routines*) = (int(*)(sqlite3*, char**, const sqlite3_api_routines*))dlsym(so, "sqlite3_alike_init");
  if( init==0 ) die("dlsym", dlerror());
  if( init(0, &err, &api)!=SQLITE_ERROR || err==0 || strcmp(err, "alike: SQLite 3.31 or later is needed, this is 3.30.1") ) die("version", err);
  if( init(0, &err, 0)!=SQLITE_ERROR ) die("version", "no table of functions");
  sqlite3_free(err);
  sqlite3 *db = opened(":memory:");
  run(db, "SELECT alike_sketch('x')");
  closed(db);
}

/* Opening and closing leaves no memory of SQLite's behind. */
static void often(void){
  sqlite3_int64 used = 0;
  for(int i=0; i<1000; i++){
    sqlite3 *db = opened(":memory:");
    if( i%10==0 ) run(db, "SELECT alike_sketch('x'); CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT); INSERT INTO d(body) VALUES ('x'), ('x'); SELECT alike_attach('d', 'body'); SELECT * FROM alike_rows('d', 1)");
    closed(db);
    if( i==0 ) used = sqlite3_memory_used();
  }
  if( sqlite3_memory_used()>used ) die("open often", "memory of closed connections is in use");
}

/* Loading twice into a connection, by SQL too, changes nothing. */
static void twice(void){
  sqlite3 *db = opened(":memory:");
  char *sql = sqlite3_mprintf("SELECT alike_sketch('x'), load_extension(%Q), alike_sketch('y') FROM (SELECT 1 UNION SELECT 2)", library);
  run(db, sql);
  sqlite3_free(sql);
  closed(db);
}

static void *reader(void *p){
  for(int i=0; i<8; i++){
    sqlite3 *db = opened(database);
    run(db, "SELECT * FROM alike_rows('d', 1 + abs(random() % 200))");
    run(db, "SELECT * FROM alike_pairs('d') LIMIT 20");
    run(db, "SELECT count(*) FROM alike_clusters('d')");
    closed(db);
  }
  return p;
}

static void *writer(void *p){
  sqlite3 *db = opened(database);
  for(int i=0; i<50; i++){
    run(db, "INSERT INTO d(body) SELECT body || ' and one more' FROM d ORDER BY random() LIMIT 2");
    run(db, "UPDATE d SET body = body || ' changed' WHERE id = 1 + abs(random() % 200)");
  }
  closed(db);
  return p;
}

static void threads(void){
  pthread_t list[10];
  sqlite3 *db = opened(database);
  run(db, "PRAGMA journal_mode = WAL; CREATE TABLE d(id INTEGER PRIMARY KEY, body TEXT)");
  run(db, "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 300) INSERT INTO d(body) SELECT 'a document of some length with the number ' || (i % 100) FROM n");
  run(db, "SELECT alike_attach('d', 'body', '{\"policy\": \"link\", \"profile\": \"words w=4 k=12 s=7\"}')");
  for(int i=0; i<10; i++) pthread_create(&list[i], 0, i<2 ? writer : reader, 0);
  for(int i=0; i<10; i++) pthread_join(list[i], 0);
  run(db, "CREATE TEMP TABLE wrong AS SELECT 1 FROM d LEFT JOIN d_alike a USING (id) WHERE a.content_hash IS NOT alike__content_hash(d.body)");
  run(db, "CREATE TEMP TABLE t(x CHECK (x = 0)); INSERT INTO t SELECT count(*) FROM wrong");
  closed(db);
}

/* A cursor that is open when its connection is closed goes on to its end. */
static void unfinished(void){
  static const char *const questions[] = {
    "SELECT * FROM alike_pairs('d')", "SELECT key, other FROM alike_pairs('d') WHERE key <> 7", "SELECT * FROM alike_pairs('d', 0.1) ORDER BY resemblance DESC", "SELECT 1 FROM alike_pairs('d')",
    "SELECT * FROM alike_clusters('d')", "SELECT * FROM alike_rows('d', '[1,1]')", "SELECT * FROM alike_rows_like('d', 'one and the same text1')", "SELECT * FROM alike_si_rows('d', 'length', '[1,1]')",
    "SELECT * FROM alike_tokens((SELECT group_concat(id) FROM d))", "SELECT a.key FROM alike_rows('d', '[1,1]') a, alike_profiles()"
  };
  for(unsigned i=0; i<sizeof questions/sizeof *questions; i++){
    long rows[2] = {0, 0};
    for(int early=0; early<2; early++){
      sqlite3 *db = opened(":memory:");
      sqlite3_stmt *s, *other;
      int rc;
      run(db, "CREATE TABLE d(id, id2, body TEXT, PRIMARY KEY (id, id2))");
      run(db, "WITH n(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM n WHERE x<60) INSERT INTO d SELECT x, 1, 'one and the same text' || (x % 2) FROM n");
      run(db, i%2 ? "SELECT alike_attach('d', 'body', '{\"si\": [\"length\"], \"verify\": \"text\"}')" : "SELECT alike_attach('d', 'body', '{\"si\": [\"length\"]}')");
      run(db, " SELECT alike_mark('d', '[1,1]', '[2,1]', 'duplicate'); SELECT count(*) FROM alike_pairs('d')");
      if( sqlite3_prepare_v2(db, questions[i], -1, &s, 0)!=SQLITE_OK ) die(questions[i], sqlite3_errmsg(db));
      if( sqlite3_prepare_v2(db, questions[0], -1, &other, 0)!=SQLITE_OK ) die(questions[0], sqlite3_errmsg(db));
      for(; (rc = sqlite3_step(s))==SQLITE_ROW; rows[early]++){
        if( rows[early]==0 && early ){
          sqlite3_step(other); /* is never finished */
          if( sqlite3_close_v2(db)!=SQLITE_OK ) die("close", questions[i]);
        }
      }
      if( rc!=SQLITE_DONE ) die(questions[i], sqlite3_errmsg(db));
      sqlite3_finalize(other);
      sqlite3_finalize(s);
      if( !early ) closed(db);
    }
    if( rows[0]!=rows[1] || rows[0]<2 ){
      printf("%s: %ld rows, and %ld after the connection was closed\n", questions[i], rows[0], rows[1]);
      exit(1);
    }
  }
}

int main(int argc, char **argv){
  static const struct { const char *name; void (*run)(void); } cases[] = {
    {"fork", forking}, {"fork first", loadInChild}, {"SIGURG", signals}, {"entry point", entry}, {"version", version},
    {"open often", often}, {"load twice", twice}, {"threads", threads},
    {"unfinished", unfinished}
  };
  if( argc<3 ) return 2;
  library = argv[1];
  if( argc>3 ) database = argv[3];
  for(unsigned i=0; i<sizeof cases/sizeof *cases; i++){
    if( strcmp(cases[i].name, argv[2])==0 ){
      cases[i].run();
      printf("ok\n");
      return 0;
    }
  }
  return 2;
}
