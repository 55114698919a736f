-- A repository: the tables of a Documentum docbase that documents, their versions
-- and their content live in. Single-valued attributes are in TYPE_s, repeating ones
-- in TYPE_r, a value at each i_position, -1 first. An r_object_id has 16 hexadecimal
-- digits: two for the type (09 a document, 06 a content object, 0b a folder, 0c a
-- cabinet, 03 a type, 2e what is known of a type), six for the docbase, and a number.
create table dm_docbase_config_s (
  object_name text primary key,
  r_docbase_id integer not null
);
insert into dm_docbase_config_s values ('office', 50000);

-- The last number given out, by tag. Documentum's first is 80000100. A sequence would
-- leave gaps where a checkin was refused; this makes checkins wait for one another.
create table last_number (
  tag char(2) primary key,
  number bigint not null -- 2147483904 is 80000100
);
insert into last_number (tag, number)
select tag, 2147483904 - 1 from unnest(array['03', '06', '09', '0b', '0c', '2e']) as tag;
create function next_object_id(of_tag text) returns char(16) language sql as $$
  update last_number set number = number + 1 where tag = of_tag
  returning tag || lpad(to_hex((select r_docbase_id from dm_docbase_config_s)), 6, '0') || lpad(to_hex(number), 8, '0')
$$;

create table dm_type_s (
  r_object_id char(16) primary key,
  name text not null unique,
  super_name text not null, -- '' for dm_sysobject
  i_type integer not null unique -- its number in dmi_object_type
);
create table dmi_type_info_s (
  r_object_id char(16) primary key,
  r_type_id char(16) not null references dm_type_s,
  r_type_name text not null unique
);
create table dmi_type_info_r (
  r_object_id char(16) not null references dmi_type_info_s,
  i_position integer not null,
  default_aspects text not null,
  primary key (r_object_id, i_position)
);
-- Every type with itself and all that it descends from.
create view dm_type_super (name, super_name) as
with recursive up (name, super_name) as (
  select name, name from dm_type_s
  union all
  select up.name, t.super_name from up join dm_type_s t on t.name = up.super_name where t.super_name <> ''
)
select name, super_name from up;

create table dmi_object_type (
  r_object_id char(16) primary key,
  i_type integer not null references dm_type_s (i_type)
);

create table dm_sysobject_s (
  r_object_id char(16) primary key check (r_object_id ~ '^[0-9a-f]{16}$'),
  object_name text not null check (object_name <> ''),
  r_object_type text not null references dm_type_s (name),
  title text not null default '',
  subject text not null default '',
  a_content_type text not null default '',
  r_creation_date timestamp(0) not null,
  r_creator_name text not null,
  r_modify_date timestamp(0) not null,
  r_modifier text not null,
  owner_name text not null,
  i_contents_id char(16) not null default '0000000000000000',
  r_content_size bigint not null default 0,
  i_chronicle_id char(16) not null, -- the first version: what the versions of a document share
  i_antecedent_id char(16) not null default '0000000000000000', -- the version that this one was made of
  i_branch_cnt integer not null default 0, -- branches that begin at this version
  i_latest_flag smallint not null default 1, -- the last of its branch
  i_has_folder smallint not null default 1, -- 1 for the version CURRENT, which queries see unless they ask for all
  r_immutable_flag smallint not null default 0, -- a later version was made of it
  r_lock_owner text not null default '',
  r_lock_date timestamp(0),
  i_vstamp integer not null default 0
);
create index dm_sysobject_s_chronicle on dm_sysobject_s (i_chronicle_id);
create index dm_sysobject_s_name on dm_sysobject_s (object_name);

create table dm_sysobject_r (
  r_object_id char(16) not null references dm_sysobject_s on delete cascade,
  i_position integer not null,
  r_version_label text, -- at -1 the number, then the labels that people give, CURRENT among them
  r_aspect_name text,
  i_folder_id char(16),
  keywords text,
  authors text,
  primary key (r_object_id, i_position)
);
create index dm_sysobject_r_folder on dm_sysobject_r (i_folder_id);
create index dm_sysobject_r_aspect on dm_sysobject_r (r_aspect_name);

create table dm_document_s (
  r_object_id char(16) primary key references dm_sysobject_s on delete cascade
);
create table dm_folder_s (
  r_object_id char(16) primary key references dm_sysobject_s on delete cascade
);
create table dm_folder_r (
  r_object_id char(16) not null references dm_folder_s on delete cascade,
  i_position integer not null,
  r_folder_path text not null unique,
  primary key (r_object_id, i_position)
);
create table dm_cabinet_s (
  r_object_id char(16) primary key references dm_folder_s on delete cascade,
  is_private smallint not null default 0
);
-- An aspect is a module, and a module is a folder of /System.
create table dmc_aspect_type_s (
  r_object_id char(16) primary key references dm_folder_s on delete cascade
);

-- Content: an object that knows its parents, and the bytes, which Documentum has in a
-- file of the store under the number data_ticket. Versions with the same content share it.
create table dmr_content_s (
  r_object_id char(16) primary key,
  parent_count integer not null,
  data_ticket integer not null unique,
  full_format text not null,
  content_size bigint not null,
  set_time timestamp(0) not null
);
create table dmr_content_r (
  r_object_id char(16) not null references dmr_content_s,
  i_position integer not null,
  parent_id char(16) not null unique references dm_sysobject_s on delete cascade,
  page integer not null default 0,
  primary key (r_object_id, i_position)
);
create table filestore_01 (
  data_ticket integer primary key,
  content bytea not null
);
-- The content of each object that has any.
create view object_content (r_object_id, content) as
select r.parent_id, f.content
from dmr_content_r r join dmr_content_s s on s.r_object_id = r.r_object_id join filestore_01 f on f.data_ticket = s.data_ticket;

-- A position whose last value is gone goes too.
create function dm_sysobject_r_empty() returns trigger language plpgsql as $$
begin
  delete from dm_sysobject_r where r_object_id = new.r_object_id and i_position = new.i_position;
  return null;
end
$$;
create trigger dm_sysobject_r_empty after update on dm_sysobject_r for each row
when (coalesce(new.r_version_label, new.r_aspect_name, new.i_folder_id, new.keywords, new.authors) is null)
execute function dm_sysobject_r_empty();

create procedure create_type(name text, super_name text) language plpgsql as $$
declare
  type_id char(16);
begin
  if exists (select from dm_type_s t where t.name = create_type.name) then
    raise exception 'create_type: there is a type "%"', name;
  elsif super_name <> '' and not exists (select from dm_type_s t where t.name = create_type.super_name) then
    raise exception 'create_type: there is no supertype "%"', super_name;
  elsif name !~ '^[a-z0-9_]+$' then
    raise exception 'create_type: "%", want a name of small letters, digits and _', name;
  end if;
  type_id := next_object_id('03');
  insert into dm_type_s (r_object_id, name, super_name, i_type) select type_id, create_type.name, create_type.super_name, count(*) + 1 from dm_type_s;
  insert into dmi_type_info_s (r_object_id, r_type_id, r_type_name) values (next_object_id('2e'), type_id, name);
end
$$;
call create_type('dm_sysobject', '');
call create_type('dm_document', 'dm_sysobject');
call create_type('dm_folder', 'dm_sysobject');
call create_type('dm_cabinet', 'dm_folder');
call create_type('dmc_aspect_type', 'dm_folder');

-- The folder of a path: /Cabinet, /Cabinet/Folder and so on, each level before the next.
create procedure create_folder(r_folder_path text, r_object_type text default null) language plpgsql as $$
declare
  above constant text := regexp_replace(r_folder_path, '/[^/]*$', '');
  above_id constant char(16) := (select f.r_object_id from dm_folder_r f where f.r_folder_path = above);
  type constant text := coalesce(r_object_type, case above when '' then 'dm_cabinet' else 'dm_folder' end);
  id char(16);
begin
  if coalesce(r_folder_path, '') !~ '^(/[^/]+)+$' then
    raise exception 'create_folder: "%", want a path such as /Cabinet/Folder', r_folder_path;
  elsif exists (select from dm_folder_r f where f.r_folder_path = create_folder.r_folder_path) then
    raise exception 'create_folder: the folder % exists', r_folder_path;
  elsif above <> '' and above_id is null then
    raise exception 'create_folder: the folder % does not exist', above;
  end if;
  id := next_object_id(case above when '' then '0c' else '0b' end);
  insert into dm_sysobject_s (r_object_id, object_name, r_object_type, r_creation_date, r_creator_name, r_modify_date, r_modifier, owner_name, i_chronicle_id)
  values (id, substr(r_folder_path, length(above) + 2), type, now(), 'dmadmin', now(), 'dmadmin', 'dmadmin', id);
  insert into dmi_object_type select id, t.i_type from dm_type_s t where t.name = type;
  insert into dm_sysobject_r (r_object_id, i_position, r_version_label, i_folder_id) values (id, -1, '1.0', above_id), (id, -2, 'CURRENT', null);
  insert into dm_folder_s values (id);
  insert into dm_folder_r values (id, -1, r_folder_path);
  insert into dm_cabinet_s (r_object_id) select id where above = '';
end
$$;
call create_folder('/System');
call create_folder('/System/Modules');
call create_folder('/System/Modules/Aspect');
call create_folder('/Quarantine');
