from sqlite_utils import hookimpl
import sqlite_alike


@hookimpl
def prepare_connection(conn):
    sqlite_alike.load(conn)
