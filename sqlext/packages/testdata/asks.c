/* A program that loads a library into SQLite, runs the statements of a file and prints the rows.
** usage: asks LIBRARY STATEMENTS */
#include <stdio.h>
#include "sqlite3.h"

static int row(void *unused, int columns, char **values, char **names){
  (void)unused; (void)names;
  for(int i=0; i<columns; i++) printf("%s%s", i ? "|" : "", values[i] ? values[i] : "");
  printf("\n");
  return 0;
}

int main(int argc, char **argv){
  static char sql[1<<16];
  sqlite3 *db;
  char *message = 0;
  FILE *f;
  if( argc!=3 || (f = fopen(argv[2], "rb"))==0 ) return 2;
  fread(sql, 1, sizeof sql-1, f);
  if( sqlite3_open(":memory:", &db) || sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, (int*)0) ) return 3;
  if( sqlite3_load_extension(db, argv[1], 0, &message) || sqlite3_exec(db, sql, row, 0, &message) ){
    fprintf(stderr, "%s\n", message ? message : sqlite3_errmsg(db));
    return 1;
  }
  return sqlite3_close(db)!=SQLITE_OK;
}
