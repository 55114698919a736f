-- Rows that still have another profile than their table, or were sketched by a build
-- of Alike that makes other tokens, and how many there are of each profile: profile,
-- documents. Empty after a refresh.
select s.profile, count(*) as documents
from documents_alike d
left join alike_settings s on s.id = d.profile
where d.profile <> (select profile from alike_attachment where name = 'documents' and state = 'ready')
group by s.profile
order by documents desc, s.profile;
