"""Alike finds the rows of a SQLite table that are roughly the same.

    import sqlite3, sqlite_alike
    connection = sqlite3.connect("documents.db")
    sqlite_alike.load(connection)
    connection.execute("select alike_attach('documents', 'body')")
"""

import os
import sys

__version__ = "VERSION"


def loadable_path():
    """Return the path of the extension, as load_extension takes it."""
    name = {"win32": "alike.dll", "darwin": "alike.dylib"}.get(sys.platform, "alike.so")
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), name)


def load(connection):
    """Load the extension into a connection of sqlite3 or apsw."""
    if not hasattr(connection, "enable_load_extension"):
        raise RuntimeError(
            "this Python's sqlite3 was built without loadable extensions; use your system's or python.org's Python,"
            " or install apsw and use its connections"
        )
    connection.enable_load_extension(True)
    try:
        connection.load_extension(loadable_path())
    finally:
        connection.enable_load_extension(False)
