-- Checkin, checkout and what belongs to them, as procedures.

-- Replaces the content of an object.
create procedure set_content(r_object_id char(16), content bytea) language plpgsql as $$
declare
  content_id constant char(16) := next_object_id('06');
  ticket constant integer := (select (number - 4294967296)::integer from last_number where tag = '06');
begin
  insert into filestore_01 values (ticket, content);
  insert into dmr_content_s
  select content_id, 1, ticket, o.a_content_type, length(set_content.content), now() from dm_sysobject_s o where o.r_object_id = set_content.r_object_id;
  update dmr_content_s s set parent_count = s.parent_count - 1
  where s.r_object_id = (select r.r_object_id from dmr_content_r r where r.parent_id = set_content.r_object_id);
  delete from dmr_content_r r where r.parent_id = set_content.r_object_id; -- content without a parent is dmclean's
  update dm_sysobject_s o set r_content_size = length(set_content.content), i_contents_id = content_id where o.r_object_id = set_content.r_object_id;
  insert into dmr_content_r (r_object_id, i_position, parent_id) values (content_id, -1, set_content.r_object_id);
end
$$;

-- The content of one object for another as well, which has none yet.
create procedure share_content(r_object_id char(16), with_object_id char(16)) language plpgsql as $$
declare
  content_id char(16);
begin
  update dmr_content_s s set parent_count = s.parent_count + 1
  where s.r_object_id = (select r.r_object_id from dmr_content_r r where r.parent_id = with_object_id)
  returning s.r_object_id into content_id;
  insert into dmr_content_r (r_object_id, i_position, parent_id)
  select content_id, min(r.i_position) - 1, share_content.r_object_id from dmr_content_r r where r.r_object_id = content_id;
end
$$;

-- A new document, version 1.0. sketch is what the policy reject judges it by.
create procedure import_document(r_object_type text, object_name text, folder_path text, owner_name text, a_content_type text, content bytea,
  r_creation_date timestamp default null, sketch bytea default null)
language plpgsql as $$
declare
  folder constant char(16) := (select f.r_object_id from dm_folder_r f where f.r_folder_path = folder_path);
  created constant timestamp := coalesce(r_creation_date, now());
  id char(16);
begin
  if not exists (select from dm_type_super t where t.name = r_object_type and t.super_name = 'dm_document') then
    raise exception 'import_document: there is no type of documents "%"', r_object_type;
  elsif folder is null then
    raise exception 'import_document: there is no folder "%"', folder_path;
  elsif coalesce(object_name, '') = '' or coalesce(owner_name, '') = '' or content is null then
    raise exception 'import_document: a document wants a name, an owner and content';
  end if;
  id := next_object_id('09');
  insert into dm_sysobject_s (r_object_id, object_name, r_object_type, a_content_type, r_creation_date, r_creator_name, r_modify_date, r_modifier, owner_name, i_chronicle_id)
  values (id, object_name, r_object_type, coalesce(a_content_type, 'crtext'), created, owner_name, created, owner_name, owner_name, id);
  insert into dmi_object_type select id, t.i_type from dm_type_s t where t.name = r_object_type;
  insert into dm_document_s values (id);
  insert into dm_sysobject_r (r_object_id, i_position, r_version_label, i_folder_id) values (id, -1, '1.0', folder), (id, -2, 'CURRENT', null);
  call si_aspect_judge(id, content, sketch);
  call set_content(id, content);
end
$$;

create procedure checkout(r_object_id char(16), user_name text) language plpgsql as $$
declare
  held text;
begin
  -- The second transaction waits here until the first has committed, and finds the lock.
  select o.r_lock_owner into held from dm_sysobject_s o join dm_document_s d using (r_object_id) where o.r_object_id = checkout.r_object_id for update of o;
  if not found then
    raise exception 'checkout: there is no document %', r_object_id;
  elsif coalesce(user_name, '') = '' then
    raise exception 'checkout: want the name of a user';
  elsif held <> '' then
    raise exception 'checkout: % is checked out already, by %', r_object_id, held using errcode = 'lock_not_available';
  end if;
  update dm_sysobject_s o set r_lock_owner = user_name, r_lock_date = now(), i_vstamp = o.i_vstamp + 1 where o.r_object_id = checkout.r_object_id;
end
$$;

-- The document that a user has checked out, or an error.
create function checked_out(r_object_id char(16), user_name text, verb text) returns dm_sysobject_s language plpgsql as $$
declare
  o dm_sysobject_s;
begin
  -- The first version stands for the document: who changes any of its versions waits here.
  perform from dm_sysobject_s f join dm_sysobject_s s on s.i_chronicle_id = f.r_object_id
  where s.r_object_id = checked_out.r_object_id for update of f;
  select s.* into o from dm_sysobject_s s join dm_document_s d using (r_object_id) where s.r_object_id = checked_out.r_object_id for update of s;
  if not found then
    raise exception '%: there is no document %', verb, r_object_id;
  elsif o.r_lock_owner = '' then
    raise exception '%: % is not checked out', verb, r_object_id using errcode = 'object_not_in_prerequisite_state';
  elsif o.r_lock_owner is distinct from user_name then
    raise exception '%: % has % checked out, not %', verb, o.r_lock_owner, r_object_id, coalesce(user_name, 'NULL') using errcode = 'lock_not_available';
  end if;
  return o;
end
$$;

create procedure cancel_checkout(r_object_id char(16), user_name text) language plpgsql as $$
begin
  perform checked_out(r_object_id, user_name, 'cancel_checkout');
  update dm_sysobject_s o set r_lock_owner = '', r_lock_date = null, i_vstamp = o.i_vstamp + 1 where o.r_object_id = cancel_checkout.r_object_id;
end
$$;

-- The numbers that the next version of a version can have: of 1.2 it is 1.3, 2.0 or, on
-- a branch, 1.2.1.0.
create view next_version (r_object_id, version, r_version_label) as
select r.r_object_id, 'minor', regexp_replace(r.r_version_label, '[0-9]+$', '') || (1 + substring(r.r_version_label from '[0-9]+$')::integer)
from dm_sysobject_r r where r.i_position = -1
union all
select r.r_object_id, 'major', (1 + split_part(r.r_version_label, '.', 1)::integer) || '.0'
from dm_sysobject_r r where r.i_position = -1
union all
select r.r_object_id, 'branch', r.r_version_label || '.' || (1 + o.i_branch_cnt) || '.0'
from dm_sysobject_r r join dm_sysobject_s o using (r_object_id) where r.i_position = -1;

-- The labels of all versions of a document.
create view version_labels (i_chronicle_id, r_object_id, r_version_label) as
select o.i_chronicle_id, o.r_object_id, r.r_version_label
from dm_sysobject_s o join dm_sysobject_r r using (r_object_id) where r.r_version_label is not null;

-- One label more, at the first position that has none. CURRENT leaves the version that had it.
create procedure add_version_label(r_object_id char(16), version_label text) language plpgsql as $$
declare
  chronicle constant char(16) := (select o.i_chronicle_id from dm_sysobject_s o where o.r_object_id = add_version_label.r_object_id);
begin
  if version_label = 'CURRENT' then
    update dm_sysobject_r r set r_version_label = null from dm_sysobject_s o
    where o.i_chronicle_id = chronicle and r.r_object_id = o.r_object_id and r.r_version_label = 'CURRENT';
    update dm_sysobject_s o set i_has_folder = (o.r_object_id = add_version_label.r_object_id)::integer
    where o.i_chronicle_id = chronicle and o.i_has_folder <> (o.r_object_id = add_version_label.r_object_id)::integer;
  end if;
  insert into dm_sysobject_r (r_object_id, i_position, r_version_label)
  select add_version_label.r_object_id, coalesce(max(r.i_position) filter (where r.r_version_label is null), min(r.i_position) - 1), version_label
  from dm_sysobject_r r where r.r_object_id = add_version_label.r_object_id
  on conflict on constraint dm_sysobject_r_pkey do update set r_version_label = excluded.r_version_label;
end
$$;

-- A new version is a copy of its antecedent.
create function new_version(o dm_sysobject_s, user_name text, version text) returns char(16) language plpgsql as $$
declare
  id constant char(16) := next_object_id('09');
begin
  insert into dm_sysobject_s (r_object_id, object_name, r_object_type, title, subject, a_content_type, r_creation_date, r_creator_name, r_modify_date, r_modifier,
    owner_name, i_contents_id, r_content_size, i_chronicle_id, i_antecedent_id, i_has_folder)
  values (id, o.object_name, o.r_object_type, o.title, o.subject, o.a_content_type, now(), user_name, now(), user_name,
    o.owner_name, o.i_contents_id, o.r_content_size, o.i_chronicle_id, o.r_object_id, 0);
  insert into dmi_object_type select id, t.i_type from dmi_object_type t where t.r_object_id = o.r_object_id;
  insert into dm_document_s values (id);
  insert into dm_sysobject_r (r_object_id, i_position, r_version_label, r_aspect_name, i_folder_id, keywords, authors)
  select id, r.i_position, n.r_version_label, r.r_aspect_name, r.i_folder_id, r.keywords, r.authors
  from dm_sysobject_r r left join next_version n on n.r_object_id = r.r_object_id and n.version = new_version.version and r.i_position = -1
  where r.r_object_id = o.r_object_id
    and (r.i_position = -1 or coalesce(r.r_aspect_name, r.i_folder_id, r.keywords, r.authors) is not null);
  if version <> 'branch' then
    call add_version_label(id, 'CURRENT');
  end if;
  update dm_sysobject_s s set r_immutable_flag = 1,
    i_latest_flag = case version when 'branch' then s.i_latest_flag else 0 end,
    i_branch_cnt = s.i_branch_cnt + (version = 'branch')::integer
  where s.r_object_id = o.r_object_id;
  return id;
end
$$;

-- version is same, minor, major or branch; content that is not given stays as it was;
-- version_label is one label more. A branch is CURRENT only if that label says so. With
-- compare_versions the policy sees the document's own versions too. sketch is what the
-- policy reject judges the content by.
create procedure checkin(r_object_id char(16), user_name text, version text, content bytea default null, version_label text default null,
  compare_versions boolean default false, sketch bytea default null)
language plpgsql as $$
declare
  o constant dm_sysobject_s := checked_out(r_object_id, user_name, 'checkin');
  taken char(16);
  number text;
  id char(16) := r_object_id;
  judged bytea;
begin
  if coalesce(version, '') not in ('same', 'minor', 'major', 'branch') then
    raise exception 'checkin: version "%", want same, minor, major or branch', version;
  elsif version_label !~ '^[a-zA-Z][^,]*$' then
    raise exception 'checkin: the version label "%" wants a letter first, and no comma', version_label;
  end if;
  select l.r_object_id into taken from version_labels l
  where l.i_chronicle_id = o.i_chronicle_id and l.r_version_label = version_label and version_label <> 'CURRENT';
  if found then
    raise exception 'checkin: the version % has the label % already', taken, version_label using errcode = 'unique_violation';
  end if;
  select l.r_object_id, n.r_version_label into taken, number
  from next_version n join version_labels l on l.r_version_label = n.r_version_label and l.i_chronicle_id = o.i_chronicle_id
  where n.r_object_id = o.r_object_id and n.version = checkin.version;
  if found then
    raise exception 'checkin: % is version % already; check in as branch', taken, number using errcode = 'unique_violation';
  end if;

  update dm_sysobject_s s set r_lock_owner = '', r_lock_date = null, i_vstamp = s.i_vstamp + 1,
    r_modify_date = case version when 'same' then now() else s.r_modify_date end,
    r_modifier = case version when 'same' then user_name else s.r_modifier end
  where s.r_object_id = o.r_object_id;
  if version <> 'same' then
    id := new_version(o, user_name, version);
  end if;
  if version_label is not null and not exists (select from dm_sysobject_r r where r.r_object_id = id and r.r_version_label = version_label) then
    call add_version_label(id, version_label);
  end if;
  if compare_versions then
    insert into si_aspect_compare_versions values (id) on conflict do nothing;
  end if;
  judged := coalesce(content, (select c.content from object_content c where c.r_object_id = o.r_object_id));
  call si_aspect_judge(id, judged, sketch);
  if content is not null then
    call set_content(id, content);
  elsif id <> o.r_object_id then
    call share_content(id, o.r_object_id);
  end if;
end
$$;
