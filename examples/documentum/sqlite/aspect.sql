-- The similarity aspect. An object carries it when its type does by default, or a type
-- that its type descends from, or when the aspect was attached to the object itself.
insert into create_folder values ('/System/Modules/Aspect/si_aspect', 'dmc_aspect_type');
insert into dmc_aspect_type_s select r_object_id from dm_folder_r where r_folder_path = '/System/Modules/Aspect/si_aspect';

create view si_aspect_type (name) as
select t.name from dm_type_super t join dmi_type_info_s i on i.r_type_name = t.super_name
join dmi_type_info_r a on a.r_object_id = i.r_object_id
where a.default_aspects = 'si_aspect';

create view si_aspect_carrier (r_object_id) as
select o.r_object_id
from dm_sysobject_s o
where o.r_object_type in (select name from si_aspect_type)
  or exists (select 1 from dm_sysobject_r r where r.r_object_id = o.r_object_id and r.r_aspect_name = 'si_aspect');

-- What is attached is this table: the text of each object that carries the aspect. The
-- option where sees the columns of one row alone, and whether an object carries the aspect
-- is written in other tables, as is its text; so triggers keep the two together here.
create table si_aspect_text (
  r_object_id text primary key references dm_sysobject_s on delete cascade,
  text blob not null
);
select alike_attach('si_aspect_text', 'text', '{"name": "si_aspect", "si": ["43B/40"]}');

-- The attributes of the aspect, beside the object and keyed by its id.
create view si_aspect (r_object_id, value, shingles) as
select r_object_id, si_43b_40, shingles from si_aspect_alike;

-- Objects that are compared with the other versions of their document.
create table si_aspect_compare_versions (
  r_object_id text primary key references dm_sysobject_s on delete cascade
);

-- Versions of one document are two texts of one thing and no duplicates: before a version
-- gets its sketch, a verdict says so of it and each of the others. The policies, the
-- questions and the clusters all obey it.
create trigger si_aspect_versions before insert on si_aspect_text
when new.r_object_id not in (select r_object_id from si_aspect_compare_versions) begin
  insert or ignore into si_aspect_alike_mark (r_object_id, other, verdict, note, marked_at)
  select min(o.r_object_id, v.r_object_id), max(o.r_object_id, v.r_object_id), 'distinct', 'versions of one document', cast(strftime('%s', 'now') as integer)
  from dm_sysobject_s o join dm_sysobject_s v using (i_chronicle_id) join si_aspect_text t on t.r_object_id = v.r_object_id
  where o.r_object_id = new.r_object_id and v.r_object_id <> o.r_object_id
    and v.r_object_id not in (select r_object_id from si_aspect_compare_versions);
end;

-- Content that comes, and the aspect when it comes or goes.
create trigger si_aspect_content after insert on dmr_content_r begin
  update si_aspect_text set text = (select content from object_content where r_object_id = new.parent_id)
  where r_object_id = new.parent_id;
  insert into si_aspect_text
  select r_object_id, content from si_aspect_carrier c join object_content using (r_object_id)
  where r_object_id = new.parent_id and not exists (select 1 from si_aspect_text t where t.r_object_id = c.r_object_id);
end;
create trigger si_aspect_attached after insert on dm_sysobject_r when new.r_aspect_name = 'si_aspect' begin
  insert into si_aspect_text
  select r_object_id, content from si_aspect_carrier c join object_content using (r_object_id)
  where r_object_id = new.r_object_id and not exists (select 1 from si_aspect_text t where t.r_object_id = c.r_object_id);
end;
create trigger si_aspect_changed after update of r_aspect_name on dm_sysobject_r when new.r_aspect_name is not old.r_aspect_name begin
  delete from si_aspect_text where r_object_id = old.r_object_id
    and not exists (select 1 from si_aspect_carrier c where c.r_object_id = old.r_object_id);
  insert into si_aspect_text
  select r_object_id, content from si_aspect_carrier c join object_content using (r_object_id)
  where r_object_id = new.r_object_id and not exists (select 1 from si_aspect_text t where t.r_object_id = c.r_object_id);
end;

-- Attaching to an object brings its text at once, and the policy judges it as a checkin.
create view attach_aspect (r_object_id, aspect_name) as select null, null where false;
create trigger attach_aspect instead of insert on attach_aspect begin
  select raise(abort, 'attach_aspect: there is no such document') where not exists (select 1 from dm_document_s where r_object_id = new.r_object_id);
  select raise(abort, 'attach_aspect: there is no such aspect')
  where not exists (select 1 from dmc_aspect_type_s a join dm_sysobject_s o using (r_object_id) where o.object_name = new.aspect_name);
  select raise(abort, 'attach_aspect: the object has the aspect already')
  from dm_sysobject_r where r_object_id = new.r_object_id and r_aspect_name = new.aspect_name;
  insert into dm_sysobject_r (r_object_id, i_position, r_aspect_name)
  select new.r_object_id, coalesce(
    (select max(i_position) from dm_sysobject_r where r_object_id = new.r_object_id and r_aspect_name is null),
    (select min(i_position) - 1 from dm_sysobject_r where r_object_id = new.r_object_id)), new.aspect_name
  where true
  on conflict (r_object_id, i_position) do update set r_aspect_name = excluded.r_aspect_name;
end;

create view detach_aspect (r_object_id, aspect_name) as select null, null where false;
create trigger detach_aspect instead of insert on detach_aspect begin
  select raise(abort, 'detach_aspect: the aspect is not attached to that object')
  where not exists (select 1 from dm_sysobject_r where r_object_id = new.r_object_id and r_aspect_name = new.aspect_name);
  update dm_sysobject_r set r_aspect_name = null where r_object_id = new.r_object_id and r_aspect_name = new.aspect_name;
end;

-- Attaching to a type: what is checked in from then on carries the aspect. What was there
-- before gets it from the backfill, in portions, and is not judged.
create view attach_default_aspect (type_name, aspect_name) as select null, null where false;
create trigger attach_default_aspect instead of insert on attach_default_aspect begin
  select raise(abort, 'attach_default_aspect: there is no such type of documents')
  where not exists (select 1 from dm_type_super where name = new.type_name and super_name = 'dm_document');
  select raise(abort, 'attach_default_aspect: there is no such aspect')
  where not exists (select 1 from dmc_aspect_type_s a join dm_sysobject_s o using (r_object_id) where o.object_name = new.aspect_name);
  select raise(abort, 'attach_default_aspect: the type has the aspect already')
  from dmi_type_info_s i join dmi_type_info_r a using (r_object_id) where i.r_type_name = new.type_name and a.default_aspects = new.aspect_name;
  insert into dmi_type_info_r
  select i.r_object_id, coalesce((select min(i_position) from dmi_type_info_r a where a.r_object_id = i.r_object_id), 0) - 1, new.aspect_name
  from dmi_type_info_s i where i.r_type_name = new.type_name;
end;

create view detach_default_aspect (type_name, aspect_name) as select null, null where false;
create trigger detach_default_aspect instead of insert on detach_default_aspect begin
  select raise(abort, 'detach_default_aspect: the aspect is not attached to that type')
  where not exists (select 1 from dmi_type_info_s i join dmi_type_info_r a using (r_object_id) where i.r_type_name = new.type_name and a.default_aspects = new.aspect_name);
  delete from dmi_type_info_r
  where default_aspects = new.aspect_name and r_object_id = (select r_object_id from dmi_type_info_s where r_type_name = new.type_name);
  delete from si_aspect_text where r_object_id not in (select r_object_id from si_aspect_carrier);
end;

-- Documents as an administrator asks for them: all versions in dm_document_sp, the
-- current ones in dm_document, with the attributes of the aspect where there are any.
create view dm_document_sp as
select o.*, n.r_version_label, a.value as "si_aspect.value"
from dm_sysobject_s o
join dm_document_s d on d.r_object_id = o.r_object_id
join dm_sysobject_r n on n.r_object_id = o.r_object_id and n.i_position = -1
left join si_aspect a on a.r_object_id = o.r_object_id;
create view dm_document as
select * from dm_document_sp where i_has_folder = 1;

-- Quarantine: what is planned, and what has been done, so that it can be taken back.
create table quarantine_plan (
  r_object_id text primary key references dm_sysobject_s on delete cascade,
  kept_id text not null -- the document of the same cluster that stays where it is
);
create table quarantined (
  r_object_id text primary key references dm_sysobject_s on delete cascade,
  kept_id text not null,
  i_folder_id text not null, -- where it was
  quarantined_at text not null
);
