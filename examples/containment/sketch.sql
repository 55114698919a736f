-- Three samples of each document's shingles, four words each: all of them
-- (modulus 1, so that what they give is no estimate), one in sixteen, and 50 to
-- 100 whatever the length.
alter table document add whole blob;
alter table document add mod16 blob;
alter table document add scaled blob;
update document set
    whole = alike_sketch(body, 'words w=4 mod=1'),
    mod16 = alike_sketch(body, 'words w=4 mod=16'),
    scaled = alike_sketch(body, 'words w=4 scaled');
