-- For COPY: the side table's columns, as the worker writes them.
copy {side} ({keys}, {computed}) from stdin (format binary)
