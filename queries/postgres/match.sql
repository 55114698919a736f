-- Records what rows $2 text[] of attachment $1 integer resemble, as its policy
-- says: the number of pairs.
select alike._match(a, $2::text[]) from alike.attachment a where a.id = $1
