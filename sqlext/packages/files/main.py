"""python -m sqlite_alike prints the path of the extension, for the sqlite3 shell."""

from sqlite_alike import loadable_path

print(loadable_path())
