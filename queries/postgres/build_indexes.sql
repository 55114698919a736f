-- Makes the indexes of the side table.
select {build}()
