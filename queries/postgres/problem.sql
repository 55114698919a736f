-- Says why attachment $1 integer cannot be worked on: $2 text, NULL when it can.
update alike.attachment set problem = $2 where id = $1 and problem is distinct from $2
