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

-- The last number given out, by tag. Documentum's first is 80000100.
create table last_number (
  tag text primary key,
  number integer not null
);
insert into last_number (tag, number)
select value, 0x80000100 - 1 from json_each('["03", "06", "09", "0b", "0c", "2e"]');
create view last_object_id (tag, r_object_id) as
select tag, tag || printf('%06x%08x', r_docbase_id, number) from last_number, dm_docbase_config_s;

create table dm_type_s (
  r_object_id text primary key,
  name text not null unique,
  super_name text not null, -- '' for dm_sysobject
  i_type integer not null unique -- its number in dmi_object_type
);
create table dmi_type_info_s (
  r_object_id text primary key,
  r_type_id text not null references dm_type_s,
  r_type_name text not null unique
);
create table dmi_type_info_r (
  r_object_id text not null references dmi_type_info_s,
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
  r_object_id text primary key,
  i_type integer not null references dm_type_s (i_type)
);

create table dm_sysobject_s (
  r_object_id text primary key check (r_object_id glob replace(printf('%16s', ''), ' ', '[0-9a-f]')),
  object_name text not null check (object_name <> ''),
  r_object_type text not null references dm_type_s (name),
  title text not null default '',
  subject text not null default '',
  a_content_type text not null default '',
  r_creation_date text not null,
  r_creator_name text not null,
  r_modify_date text not null,
  r_modifier text not null,
  owner_name text not null,
  i_contents_id text not null default '0000000000000000',
  r_content_size integer not null default 0,
  i_chronicle_id text not null, -- the first version: what the versions of a document share
  i_antecedent_id text not null default '0000000000000000', -- the version that this one was made of
  i_branch_cnt integer not null default 0, -- branches that begin at this version
  i_latest_flag integer not null default 1, -- the last of its branch
  i_has_folder integer not null default 1, -- 1 for the version CURRENT, which queries see unless they ask for all
  r_immutable_flag integer not null default 0, -- a later version was made of it
  r_lock_owner text not null default '',
  r_lock_date text,
  i_vstamp integer not null default 0
);
create index dm_sysobject_s_chronicle on dm_sysobject_s (i_chronicle_id);
create index dm_sysobject_s_name on dm_sysobject_s (object_name);

create table dm_sysobject_r (
  r_object_id text not null references dm_sysobject_s on delete cascade,
  i_position integer not null,
  r_version_label text, -- at -1 the number, then the labels that people give, CURRENT among them
  r_aspect_name text,
  i_folder_id text,
  keywords text,
  authors text,
  primary key (r_object_id, i_position)
);
create index dm_sysobject_r_folder on dm_sysobject_r (i_folder_id);
create index dm_sysobject_r_aspect on dm_sysobject_r (r_aspect_name);

create table dm_document_s (
  r_object_id text primary key references dm_sysobject_s on delete cascade
);
create table dm_folder_s (
  r_object_id text primary key references dm_sysobject_s on delete cascade
);
create table dm_folder_r (
  r_object_id text not null references dm_folder_s on delete cascade,
  i_position integer not null,
  r_folder_path text not null unique,
  primary key (r_object_id, i_position)
);
create table dm_cabinet_s (
  r_object_id text primary key references dm_folder_s on delete cascade,
  is_private integer not null default 0
);
-- An aspect is a module, and a module is a folder of /System.
create table dmc_aspect_type_s (
  r_object_id text primary key references dm_folder_s on delete cascade
);

-- Content: an object that knows its parents, and the bytes, which Documentum has in a
-- file of the store under the number data_ticket. Versions with the same content share it.
create table dmr_content_s (
  r_object_id text primary key,
  parent_count integer not null,
  data_ticket integer not null unique,
  full_format text not null,
  content_size integer not null,
  set_time text not null
);
create table dmr_content_r (
  r_object_id text not null references dmr_content_s,
  i_position integer not null,
  parent_id text not null unique references dm_sysobject_s on delete cascade,
  page integer not null default 0,
  primary key (r_object_id, i_position)
);
create table filestore_01 (
  data_ticket integer primary key,
  content blob not null
);

-- The content of each object that has any.
create view object_content (r_object_id, content) as
select r.parent_id, f.content
from dmr_content_r r join dmr_content_s s on s.r_object_id = r.r_object_id join filestore_01 f on f.data_ticket = s.data_ticket;

-- A position whose last value is gone goes too.
create trigger dm_sysobject_r_empty after update on dm_sysobject_r
when coalesce(new.r_version_label, new.r_aspect_name, new.i_folder_id, new.keywords, new.authors) is null begin
  delete from dm_sysobject_r where r_object_id = new.r_object_id and i_position = new.i_position;
end;

-- Procedures: insert into create_type (name, super_name) values (…).
create view create_type (name, super_name) as select null, null where false;
create trigger create_type instead of insert on create_type begin
  select raise(abort, 'create_type: there is a type of that name') where exists (select 1 from dm_type_s where name = new.name);
  select raise(abort, 'create_type: there is no such supertype') where new.super_name <> '' and not exists (select 1 from dm_type_s where name = new.super_name);
  select raise(abort, 'create_type: want a name of small letters, digits and _') where new.name glob '*[^a-z0-9_]*' or new.name = '' or new.name is null;
  update last_number set number = number + 1 where tag in ('03', '2e');
  insert into dm_type_s (r_object_id, name, super_name, i_type)
  select r_object_id, new.name, new.super_name, (select count(*) + 1 from dm_type_s) from last_object_id where tag = '03';
  insert into dmi_type_info_s (r_object_id, r_type_id, r_type_name)
  select i.r_object_id, t.r_object_id, new.name from last_object_id i, last_object_id t where i.tag = '2e' and t.tag = '03';
end;
insert into create_type values
  ('dm_sysobject', ''), ('dm_document', 'dm_sysobject'), ('dm_folder', 'dm_sysobject'), ('dm_cabinet', 'dm_folder'), ('dmc_aspect_type', 'dm_folder');

-- The folder of a path: /Cabinet, /Cabinet/Folder and so on, each level before the next.
create view create_folder (r_folder_path, r_object_type) as select null, null where false;
create trigger create_folder instead of insert on create_folder begin
  select raise(abort, 'create_folder: want a path such as /Cabinet/Folder') where new.r_folder_path is null or new.r_folder_path not glob '/*' or new.r_folder_path glob '*//*' or new.r_folder_path glob '*/';
  select raise(abort, 'create_folder: the folder exists') where exists (select 1 from dm_folder_r where r_folder_path = new.r_folder_path);
  select raise(abort, 'create_folder: the folder above it does not exist') where new.r_folder_path glob '/*/*'
    and not exists (select 1 from dm_folder_r where r_folder_path || '/' = rtrim(new.r_folder_path, replace(new.r_folder_path, '/', '')));
  update last_number set number = number + 1 where tag = iif(new.r_folder_path glob '/*/*', '0b', '0c');
  insert into dm_sysobject_s (r_object_id, object_name, r_object_type, r_creation_date, r_creator_name, r_modify_date, r_modifier, owner_name, i_chronicle_id)
  select r_object_id, replace(new.r_folder_path, rtrim(new.r_folder_path, replace(new.r_folder_path, '/', '')), ''),
    coalesce(new.r_object_type, iif(tag = '0c', 'dm_cabinet', 'dm_folder')),
    datetime('now'), 'dmadmin', datetime('now'), 'dmadmin', 'dmadmin', r_object_id
  from last_object_id where tag = iif(new.r_folder_path glob '/*/*', '0b', '0c');
  insert into dmi_object_type
  select o.r_object_id, t.i_type from last_object_id i join dm_sysobject_s o using (r_object_id) join dm_type_s t on t.name = o.r_object_type
  where i.tag = iif(new.r_folder_path glob '/*/*', '0b', '0c');
  insert into dm_sysobject_r (r_object_id, i_position, r_version_label, i_folder_id)
  select r_object_id, -1, '1.0', (select r_object_id from dm_folder_r where r_folder_path || '/' = rtrim(new.r_folder_path, replace(new.r_folder_path, '/', '')))
  from last_object_id where tag = iif(new.r_folder_path glob '/*/*', '0b', '0c')
  union all
  select r_object_id, -2, 'CURRENT', null from last_object_id where tag = iif(new.r_folder_path glob '/*/*', '0b', '0c');
  insert into dm_folder_s select r_object_id from last_object_id where tag = iif(new.r_folder_path glob '/*/*', '0b', '0c');
  insert into dm_folder_r select r_object_id, -1, new.r_folder_path from last_object_id where tag = iif(new.r_folder_path glob '/*/*', '0b', '0c');
  insert into dm_cabinet_s (r_object_id) select r_object_id from last_object_id where tag = '0c' and new.r_folder_path not glob '/*/*';
end;
insert into create_folder (r_folder_path) values ('/System'), ('/System/Modules'), ('/System/Modules/Aspect'), ('/Quarantine');
