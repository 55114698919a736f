-- Rows that still have another profile than their table, and how many there are of
-- each: profile, documents. Empty after a refresh.
select s.profile, count(*) as documents
from documents_alike d
join alike.settings s on s.id = d.profile
where d.profile <> (select profile_id from alike.attachment where name = 'documents' and replaces is null)
group by s.profile
order by documents desc, s.profile;
