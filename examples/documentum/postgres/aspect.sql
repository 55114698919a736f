-- The similarity aspect. An object carries it when its type does by default, or a type
-- that its type descends from, or when the aspect was attached to the object itself.
call create_folder('/System/Modules/Aspect/si_aspect', 'dmc_aspect_type');
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
  r_object_id char(16) primary key references dm_sysobject_s on delete cascade,
  text bytea not null
);
select alike.attach('si_aspect_text', 'text', '{"name": "si_aspect", "si": ["43B/40"]}') as queued;

-- The attributes of the aspect, beside the object and keyed by its id. Read through a
-- function, whose text is looked at when it runs: a view that names the side table
-- itself would keep the worker from putting a new one in its place, as it does after a
-- change of profile. The planner writes such a function out and uses the index.
create function si_aspect_rows() returns table (r_object_id char(16), value bigint, shingles bigint) language sql stable as $$
  select r_object_id, si_43b_40, shingles from si_aspect_alike
$$;
create view si_aspect (r_object_id, value, shingles) as select * from si_aspect_rows();

-- Objects that are compared with the other versions of their document.
create table si_aspect_compare_versions (
  r_object_id char(16) primary key references dm_sysobject_s on delete cascade
);

-- Versions of one document are two texts of one thing and no duplicates: before a version
-- gets its sketch, a verdict says so of it and each of the others. The policies, the
-- questions and the clusters all obey it.
create function si_aspect_mark_versions(id char(16)) returns void language sql as $$
  insert into si_aspect_alike_mark (r_object_id, other, verdict, note)
  select least(o.r_object_id, v.r_object_id), greatest(o.r_object_id, v.r_object_id), 'distinct', 'versions of one document'
  from dm_sysobject_s o join dm_sysobject_s v using (i_chronicle_id) join si_aspect_text t on t.r_object_id = v.r_object_id
  where o.r_object_id = id and v.r_object_id <> o.r_object_id
    and not exists (select from si_aspect_compare_versions c where c.r_object_id in (o.r_object_id, v.r_object_id))
  on conflict do nothing
$$;
create function si_aspect_versions() returns trigger language plpgsql as $$
begin
  perform si_aspect_mark_versions(new.r_object_id);
  return new;
end
$$;
create trigger si_aspect_versions before insert on si_aspect_text for each row execute function si_aspect_versions();

-- The worker does what link and warn say. What reject says has to be said within the
-- checkin, which brings the sketch of its content, since the server cannot make one; the
-- worker's library, command and HTTP endpoint can. Attached with the option ask, the
-- table's own trigger asks the worker instead.
create procedure si_aspect_judge(id char(16), content bytea, sketch bytea) language plpgsql as $$
begin
  if not exists (select from si_aspect_carrier c where c.r_object_id = id)
     or not exists (select from alike.attachment a where a.name = 'si_aspect' and a.replaces is null and a.policy = 'reject' and not a.options ? 'ask') then
    return;
  elsif sketch is null and encode(content, 'escape') ~ '[[:alnum:]]' then
    raise exception 'checkin: the policy is reject: bring the sketch of the content' using errcode = 'invalid_parameter_value';
  end if;
  perform si_aspect_mark_versions(id);
  perform alike.gate('si_aspect', sketch, id);
end
$$;

-- Content that comes, and the aspect when it comes or goes.
create function si_aspect_content() returns trigger language plpgsql as $$
begin
  insert into si_aspect_text
  select c.r_object_id, o.content from si_aspect_carrier c join object_content o using (r_object_id) where c.r_object_id = new.parent_id
  on conflict (r_object_id) do update set text = excluded.text;
  return null;
end
$$;
create trigger si_aspect_content after insert on dmr_content_r for each row execute function si_aspect_content();
create function si_aspect_changed() returns trigger language plpgsql as $$
begin
  delete from si_aspect_text t where t.r_object_id = new.r_object_id and not exists (select from si_aspect_carrier c where c.r_object_id = new.r_object_id);
  insert into si_aspect_text
  select c.r_object_id, o.content from si_aspect_carrier c join object_content o using (r_object_id) where c.r_object_id = new.r_object_id
  on conflict do nothing;
  return null;
end
$$;
create trigger si_aspect_attached after insert on dm_sysobject_r for each row
when (new.r_aspect_name = 'si_aspect') execute function si_aspect_changed();
create trigger si_aspect_changed after update on dm_sysobject_r for each row
when (new.r_aspect_name is distinct from old.r_aspect_name) execute function si_aspect_changed();

create function check_aspect(verb text, aspect_name text) returns void language plpgsql as $$
begin
  if not exists (select from dmc_aspect_type_s a join dm_sysobject_s o using (r_object_id) where o.object_name = aspect_name) then
    raise exception '%: there is no aspect "%"', verb, aspect_name;
  end if;
end
$$;

-- Attaching to an object brings its text at once.
create procedure attach_aspect(r_object_id char(16), aspect_name text) language plpgsql as $$
begin
  perform check_aspect('attach_aspect', aspect_name);
  if not exists (select from dm_document_s d where d.r_object_id = attach_aspect.r_object_id) then
    raise exception 'attach_aspect: there is no document %', r_object_id;
  elsif exists (select from dm_sysobject_r r where r.r_object_id = attach_aspect.r_object_id and r.r_aspect_name = aspect_name) then
    raise exception 'attach_aspect: % has the aspect % already', r_object_id, aspect_name;
  end if;
  insert into dm_sysobject_r (r_object_id, i_position, r_aspect_name)
  select attach_aspect.r_object_id, coalesce(max(r.i_position) filter (where r.r_aspect_name is null), min(r.i_position) - 1), aspect_name
  from dm_sysobject_r r where r.r_object_id = attach_aspect.r_object_id
  on conflict on constraint dm_sysobject_r_pkey do update set r_aspect_name = excluded.r_aspect_name;
end
$$;

create procedure detach_aspect(r_object_id char(16), aspect_name text) language plpgsql as $$
begin
  update dm_sysobject_r r set r_aspect_name = null where r.r_object_id = detach_aspect.r_object_id and r.r_aspect_name = aspect_name;
  if not found then
    raise exception 'detach_aspect: the aspect "%" is not attached to %', aspect_name, r_object_id;
  end if;
end
$$;

-- Attaching to a type: what is checked in from then on carries the aspect. What was there
-- before gets it from the backfill, in portions, and is not judged.
create procedure attach_default_aspect(type_name text, aspect_name text) language plpgsql as $$
begin
  perform check_aspect('attach_default_aspect', aspect_name);
  if not exists (select from dm_type_super t where t.name = type_name and t.super_name = 'dm_document') then
    raise exception 'attach_default_aspect: there is no type of documents "%"', type_name;
  elsif exists (select from dmi_type_info_s i join dmi_type_info_r a using (r_object_id) where i.r_type_name = type_name and a.default_aspects = aspect_name) then
    raise exception 'attach_default_aspect: % has the aspect % already', type_name, aspect_name;
  end if;
  insert into dmi_type_info_r
  select i.r_object_id, coalesce((select min(a.i_position) from dmi_type_info_r a where a.r_object_id = i.r_object_id), 0) - 1, aspect_name
  from dmi_type_info_s i where i.r_type_name = type_name;
end
$$;

create procedure detach_default_aspect(type_name text, aspect_name text) language plpgsql as $$
begin
  delete from dmi_type_info_r a using dmi_type_info_s i
  where i.r_object_id = a.r_object_id and i.r_type_name = type_name and a.default_aspects = aspect_name;
  if not found then
    raise exception 'detach_default_aspect: the aspect "%" is not attached to %', aspect_name, type_name;
  end if;
  delete from si_aspect_text t where not exists (select from si_aspect_carrier c where c.r_object_id = t.r_object_id);
end
$$;

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
  r_object_id char(16) primary key references dm_sysobject_s on delete cascade,
  kept_id char(16) not null -- the document of the same cluster that stays where it is
);
create table quarantined (
  r_object_id char(16) primary key references dm_sysobject_s on delete cascade,
  kept_id char(16) not null,
  i_folder_id char(16) not null, -- where it was
  quarantined_at timestamp(0) not null
);

-- The functions that the tasks call, under their SQLite names, so that each task is one
-- file for both engines.
create function alike_attach(table_name text, column_name text, options text) returns bigint language sql as $$
  select alike.attach(table_name, column_name, options::jsonb)
$$;
create function alike_pairs(name text) returns table (key char(16), other char(16)) language sql stable as $$
  select p.key::char(16), p.other::char(16) from alike.pairs(name) p
$$;
create function alike_rows(name text, key text) returns table (key char(16), resemblance double precision) language sql stable as $$
  select r.key::char(16), r.resemblance from alike.rows(name, $2) r
$$;
create function alike_resemblance(a bytea, b bytea) returns double precision language sql stable as $$
  select alike.resemblance(a, b)
$$;
-- Whole numbers like the values: PostgreSQL does not use the index to compare with decimals.
create function alike_si_low(value bigint) returns bigint language sql immutable as $$
  select floor(alike.si_low(value))::bigint
$$;
create function alike_si_high(value bigint) returns bigint language sql immutable as $$
  select ceil(alike.si_high(value))::bigint
$$;
