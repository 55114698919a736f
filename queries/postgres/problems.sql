-- Why attachments cannot be worked on, a sentence each.
select format('%s cannot be worked on: %s', name, problem) from alike.attachment where problem is not null order by name, id
