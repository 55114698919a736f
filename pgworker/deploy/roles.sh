#!/bin/sh
# Runs once, when the image of PostgreSQL makes its first database. The database app
# belongs to the role app, which makes and attaches tables. The worker logs in as
# alike_job: a member of app, so that it reads what app owns, and no superuser.
set -eu
psql -X -v ON_ERROR_STOP=1 -v password="$POSTGRES_PASSWORD" --username "${POSTGRES_USER:-postgres}" --dbname postgres <<'SQL'
create role alike_reader nologin;
create role alike_worker nologin;
create role alike_admin nologin;
create role app login password :'password' in role alike_admin;
create role alike_job login password :'password' in role alike_worker, app;
create database app owner app;
SQL
