-- A recording is the set of the cells around its peaks: 2 wide in either
-- direction, on a grid of 0.4.
create table cell (recording integer, cell text, primary key (recording, cell)) without rowid;
insert or ignore into cell
select recording, cell from peak, alike_cells(pitch, 2, 0.4, gap);

-- For comparison, the same peaks as whole numbers.
create table rounded (recording integer, point text, primary key (recording, point)) without rowid;
insert or ignore into rounded
select recording, round(pitch) || ',' || round(gap) from peak;

alter table recording add cells integer;
alter table recording add points integer;
alter table recording add sketch blob;
update recording set
    cells = (select count(*) from cell where recording = id),
    points = (select count(*) from rounded where recording = id),
    sketch = (select alike_sketch_set(cell) from cell where recording = id);
