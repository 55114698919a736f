-- What we know of some people, and how much each field says about who it is.
create table person (id integer primary key, name text, born text, mail text, street text, town text, country text);
insert into person values
    (1, 'Ada Lindgren', '1961-04-02', 'ada@lindgren.example', 'Mill Lane 4', 'Uppsala', 'Sweden'),
    (2, 'Ada Lindgren', '1961-04-02', 'ada@lindgren.example', 'Canal Street 19', 'Malmö', 'Sweden'),
    (3, 'Ada Lindgren', '1998-11-23', 'al98@post.example', 'Mill Lane 4', 'Uppsala', 'Sweden'),
    (4, 'Olof Berg', '1970-01-31', 'berg@post.example', 'Mill Lane 4', 'Uppsala', 'Sweden'),
    (5, 'Olof Bergh', '1970-01-31', 'berg@post.example', 'Mill Lane 4', 'Uppsala', 'Sweden');
create table weight (field text primary key, weight real);
insert into weight values ('name', 5), ('born', 4), ('mail', 6), ('street', 1.5), ('town', 0.5), ('country', 0.1);
create view element as
select id, field || '=' || value as element, weight
from (
    select id, 'name' as field, name as value from person
    union all select id, 'born', born from person
    union all select id, 'mail', mail from person
    union all select id, 'street', street from person
    union all select id, 'town', town from person
    union all select id, 'country', country from person
) join weight using (field);

-- Every element alike; by its weight; and repeated, ten times for a weight of 1.
create table person_sketch as
select id,
    alike_sketch_set(element) as plain,
    alike_sketch_set(element, weight, 'weighted') as weighted,
    alike_sketch_set(element, cast(round(10 * weight) as integer), 'prose') as repeated
from element
group by id;
