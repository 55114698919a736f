-- Checkin, checkout and what belongs to them. SQLite has no procedures: each is a view
-- whose columns are the arguments, and inserting a row into it is the call. All of a
-- call happens, or, when it ends with an error, nothing of it.

-- Replaces the content of an object.
create view set_content (r_object_id, content) as select null, null where false;
create trigger set_content instead of insert on set_content begin
  update last_number set number = number + 1 where tag = '06';
  insert into filestore_01 select number - (1 << 32), new.content from last_number where tag = '06';
  insert into dmr_content_s
  select i.r_object_id, 1, n.number - (1 << 32), o.a_content_type, length(cast(new.content as blob)), datetime('now')
  from last_object_id i, last_number n, dm_sysobject_s o
  where i.tag = '06' and n.tag = '06' and o.r_object_id = new.r_object_id;
  update dmr_content_s set parent_count = parent_count - 1
  where r_object_id = (select r_object_id from dmr_content_r where parent_id = new.r_object_id);
  delete from dmr_content_r where parent_id = new.r_object_id; -- content without a parent is dmclean's
  update dm_sysobject_s set r_content_size = length(cast(new.content as blob)),
    i_contents_id = (select r_object_id from last_object_id where tag = '06')
  where r_object_id = new.r_object_id;
  insert into dmr_content_r (r_object_id, i_position, parent_id)
  select r_object_id, -1, new.r_object_id from last_object_id where tag = '06';
end;

-- The content of one object for another as well, which has none yet.
create view share_content (r_object_id, with_object_id) as select null, null where false;
create trigger share_content instead of insert on share_content begin
  update dmr_content_s set parent_count = parent_count + 1
  where r_object_id = (select r_object_id from dmr_content_r where parent_id = new.with_object_id);
  insert into dmr_content_r (r_object_id, i_position, parent_id)
  select c.r_object_id, (select min(i_position) - 1 from dmr_content_r where r_object_id = c.r_object_id), new.r_object_id
  from dmr_content_r c where c.parent_id = new.with_object_id;
end;

-- A new document, version 1.0.
create view import_document (r_object_type, object_name, folder_path, owner_name, a_content_type, content, r_creation_date) as
select null, null, null, null, null, null, null where false;
create trigger import_document instead of insert on import_document begin
  select raise(abort, 'import_document: there is no such type of documents')
  where not exists (select 1 from dm_type_super where name = new.r_object_type and super_name = 'dm_document');
  select raise(abort, 'import_document: there is no such folder')
  where not exists (select 1 from dm_folder_r where r_folder_path = new.folder_path);
  select raise(abort, 'import_document: a document wants a name, an owner and content')
  where coalesce(new.object_name, '') = '' or coalesce(new.owner_name, '') = '' or new.content is null;
  update last_number set number = number + 1 where tag = '09';
  insert into dm_sysobject_s (r_object_id, object_name, r_object_type, a_content_type, r_creation_date, r_creator_name, r_modify_date, r_modifier, owner_name, i_chronicle_id)
  select r_object_id, new.object_name, new.r_object_type, coalesce(new.a_content_type, 'crtext'),
    coalesce(new.r_creation_date, datetime('now')), new.owner_name, coalesce(new.r_creation_date, datetime('now')), new.owner_name, new.owner_name, r_object_id
  from last_object_id where tag = '09';
  insert into dmi_object_type
  select i.r_object_id, t.i_type from last_object_id i, dm_type_s t where i.tag = '09' and t.name = new.r_object_type;
  insert into dm_document_s select r_object_id from last_object_id where tag = '09';
  insert into dm_sysobject_r (r_object_id, i_position, r_version_label, i_folder_id)
  select i.r_object_id, -1, '1.0', f.r_object_id from last_object_id i, dm_folder_r f where i.tag = '09' and f.r_folder_path = new.folder_path
  union all
  select r_object_id, -2, 'CURRENT', null from last_object_id where tag = '09';
  insert into set_content select r_object_id, new.content from last_object_id where tag = '09';
end;

create view checkout (r_object_id, user_name) as select null, null where false;
create trigger checkout instead of insert on checkout begin
  select raise(abort, 'checkout: there is no such document') where not exists (select 1 from dm_document_s where r_object_id = new.r_object_id);
  select raise(abort, 'checkout: want the name of a user') where coalesce(new.user_name, '') = '';
  select raise(abort, 'checkout: the document is checked out already, r_lock_owner says by whom')
  from dm_sysobject_s where r_object_id = new.r_object_id and r_lock_owner <> '';
  update dm_sysobject_s set r_lock_owner = new.user_name, r_lock_date = datetime('now'), i_vstamp = i_vstamp + 1
  where r_object_id = new.r_object_id;
end;

create view cancel_checkout (r_object_id, user_name) as select null, null where false;
create trigger cancel_checkout instead of insert on cancel_checkout begin
  select raise(abort, 'cancel_checkout: there is no such document') where not exists (select 1 from dm_document_s where r_object_id = new.r_object_id);
  select raise(abort, 'cancel_checkout: the document is not checked out')
  from dm_sysobject_s where r_object_id = new.r_object_id and r_lock_owner = '';
  select raise(abort, 'cancel_checkout: another user has it checked out, r_lock_owner says who')
  from dm_sysobject_s where r_object_id = new.r_object_id and r_lock_owner is not new.user_name;
  update dm_sysobject_s set r_lock_owner = '', r_lock_date = null, i_vstamp = i_vstamp + 1 where r_object_id = new.r_object_id;
end;

-- The numbers that the next version of a version can have: of 1.2 it is 1.3, 2.0 or, on
-- a branch, 1.2.1.0.
create view next_version (r_object_id, version, r_version_label) as
select r.r_object_id, 'minor', rtrim(r.r_version_label, '0123456789') || (1 + replace(r.r_version_label, rtrim(r.r_version_label, '0123456789'), ''))
from dm_sysobject_r r where r.i_position = -1
union all
select r.r_object_id, 'major', (1 + substr(r.r_version_label, 1, instr(r.r_version_label, '.') - 1)) || '.0'
from dm_sysobject_r r where r.i_position = -1
union all
select r.r_object_id, 'branch', r.r_version_label || '.' || (1 + o.i_branch_cnt) || '.0'
from dm_sysobject_r r join dm_sysobject_s o using (r_object_id) where r.i_position = -1;

-- The labels of all versions of a document.
create view version_labels (i_chronicle_id, r_object_id, r_version_label) as
select o.i_chronicle_id, o.r_object_id, r.r_version_label
from dm_sysobject_s o join dm_sysobject_r r using (r_object_id) where r.r_version_label is not null;

-- One label more, at the first position that has none. CURRENT leaves the version that had it.
create view add_version_label (r_object_id, r_version_label) as select null, null where false;
create trigger add_version_label instead of insert on add_version_label begin
  update dm_sysobject_r set r_version_label = null
  where new.r_version_label = 'CURRENT' and r_version_label = 'CURRENT'
    and r_object_id in (select o.r_object_id from dm_sysobject_s o join dm_sysobject_s n using (i_chronicle_id) where n.r_object_id = new.r_object_id);
  update dm_sysobject_s set i_has_folder = (r_object_id = new.r_object_id)
  where new.r_version_label = 'CURRENT' and i_has_folder <> (r_object_id = new.r_object_id)
    and i_chronicle_id = (select i_chronicle_id from dm_sysobject_s where r_object_id = new.r_object_id);
  insert into dm_sysobject_r (r_object_id, i_position, r_version_label)
  select new.r_object_id, coalesce(
    (select max(i_position) from dm_sysobject_r where r_object_id = new.r_object_id and r_version_label is null),
    (select min(i_position) - 1 from dm_sysobject_r where r_object_id = new.r_object_id)), new.r_version_label
  where true
  on conflict (r_object_id, i_position) do update set r_version_label = excluded.r_version_label;
end;

-- A new version is a copy of its antecedent. Its id is the last assigned id.
create view new_version (i_antecedent_id, user_name, version) as select null, null, null where false;
create trigger new_version instead of insert on new_version begin
  update last_number set number = number + 1 where tag = '09';
  insert into dm_sysobject_s (r_object_id, object_name, r_object_type, title, subject, a_content_type, r_creation_date, r_creator_name, r_modify_date, r_modifier,
    owner_name, i_contents_id, r_content_size, i_chronicle_id, i_antecedent_id, i_has_folder)
  select i.r_object_id, o.object_name, o.r_object_type, o.title, o.subject, o.a_content_type, datetime('now'), new.user_name, datetime('now'), new.user_name,
    o.owner_name, o.i_contents_id, o.r_content_size, o.i_chronicle_id, o.r_object_id, 0
  from last_object_id i, dm_sysobject_s o where i.tag = '09' and o.r_object_id = new.i_antecedent_id;
  insert into dmi_object_type
  select i.r_object_id, t.i_type from last_object_id i, dmi_object_type t where i.tag = '09' and t.r_object_id = new.i_antecedent_id;
  insert into dm_document_s select r_object_id from last_object_id where tag = '09';
  insert into dm_sysobject_r (r_object_id, i_position, r_version_label, r_aspect_name, i_folder_id, keywords, authors)
  select i.r_object_id, r.i_position, n.r_version_label, r.r_aspect_name, r.i_folder_id, r.keywords, r.authors
  from last_object_id i, dm_sysobject_r r left join next_version n on n.r_object_id = r.r_object_id and n.version = new.version and r.i_position = -1
  where i.tag = '09' and r.r_object_id = new.i_antecedent_id
    and (r.i_position = -1 or coalesce(r.r_aspect_name, r.i_folder_id, r.keywords, r.authors) is not null);
  insert into add_version_label select r_object_id, 'CURRENT' from last_object_id where tag = '09' and new.version <> 'branch';
  update dm_sysobject_s set r_immutable_flag = 1,
    i_latest_flag = iif(new.version = 'branch', i_latest_flag, 0),
    i_branch_cnt = i_branch_cnt + (new.version = 'branch')
  where r_object_id = new.i_antecedent_id;
end;

-- version is same, minor, major or branch; content that is not given stays as it was;
-- version_label is one label more. A branch is CURRENT only if that label says so. With
-- compare_versions the policy sees the document's own versions too.
create view checkin (r_object_id, user_name, version, content, version_label, compare_versions) as
select null, null, null, null, null, null where false;
create trigger checkin instead of insert on checkin begin
  select raise(abort, 'checkin: there is no such document') where not exists (select 1 from dm_document_s where r_object_id = new.r_object_id);
  select raise(abort, 'checkin: the document is not checked out')
  from dm_sysobject_s where r_object_id = new.r_object_id and r_lock_owner = '';
  select raise(abort, 'checkin: another user has it checked out, r_lock_owner says who')
  from dm_sysobject_s where r_object_id = new.r_object_id and r_lock_owner is not new.user_name;
  select raise(abort, 'checkin: version wants to be same, minor, major or branch')
  where coalesce(new.version, '') not in ('same', 'minor', 'major', 'branch');
  select raise(abort, 'checkin: a version label wants a letter first, and no comma')
  where new.version_label not glob '[a-zA-Z]*' or new.version_label glob '*,*';
  select raise(abort, 'checkin: a version of the document has that label already, version_labels says which')
  from dm_sysobject_s o join version_labels l using (i_chronicle_id)
  where o.r_object_id = new.r_object_id and l.r_version_label = new.version_label and new.version_label <> 'CURRENT';
  select raise(abort, 'checkin: a version of the document has that number already, version_labels says which; check in as branch')
  from dm_sysobject_s o join next_version n using (r_object_id) join version_labels l using (i_chronicle_id)
  where o.r_object_id = new.r_object_id and n.version = new.version and l.r_version_label = n.r_version_label;

  update dm_sysobject_s set r_lock_owner = '', r_lock_date = null, i_vstamp = i_vstamp + 1,
    r_modify_date = iif(new.version = 'same', datetime('now'), r_modify_date),
    r_modifier = iif(new.version = 'same', new.user_name, r_modifier)
  where r_object_id = new.r_object_id;
  insert into new_version select new.r_object_id, new.user_name, new.version where new.version <> 'same';
  insert into checked_in select iif(new.version = 'same', new.r_object_id, (select r_object_id from last_object_id where tag = '09')),
    new.r_object_id, new.content, new.version_label, new.compare_versions;
end;

-- What a checkin of either kind ends with. The content comes last: the policy judges it,
-- and an error takes all of the checkin back.
create view checked_in (r_object_id, checked_out_id, content, version_label, compare_versions) as select null, null, null, null, null where false;
create trigger checked_in instead of insert on checked_in begin
  insert into add_version_label select new.r_object_id, new.version_label
  where not exists (select 1 from dm_sysobject_r where r_object_id = new.r_object_id and r_version_label = new.version_label) and new.version_label is not null;
  insert or ignore into si_aspect_compare_versions select new.r_object_id where new.compare_versions;
  insert into set_content select new.r_object_id, new.content where new.content is not null;
  insert into share_content select new.r_object_id, new.checked_out_id where new.content is null and new.r_object_id <> new.checked_out_id;
end;
