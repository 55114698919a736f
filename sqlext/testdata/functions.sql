SELECT alike_version();
-- 0.1.0

SELECT alike_profile(alike_sketch('a'));
-- words w=2 set fast t=168 k=23 s=4 r=2

SELECT alike_profile(alike_sketch('a', 'web bits=8'));
-- html w=6 set fast t=84 k=6 s=14 r=2 bits=8

SELECT typeof(alike_sketch('')), typeof(alike_sketch(' .,; ')), typeof(alike_sketch(NULL)), typeof(alike_sketch('a', NULL));
-- null|null|null|null

SELECT alike_sketch(42) = alike_sketch('42'), alike_sketch(0.5) = alike_sketch('0.5');
-- 1|1

SELECT alike_sketch('nonsense', 'words w=0');
-- Error: alike_sketch: profile "words w=0": w=0, want 1 to 1024

SELECT alike_sketch('nonsense', 12);
-- Error: alike_sketch: the profile is the integer 12, want text

SELECT alike_resemblance(alike_sketch('to be or not to be that is the question'), alike_sketch('To be, or not to be: that is the question.'));
-- 1.0

SELECT alike_resemblance(alike_sketch('a'), alike_sketch('a', 'web'));
-- Error: alike_resemblance: sketches of different profiles

SELECT alike_resemblance(alike_sketch('a'), 'a');
-- Error: alike_resemblance: the second argument is "a", want a sketch

SELECT alike_resemblance(x'a101', alike_sketch('a'));
-- Error: alike_resemblance

SELECT alike_shared(alike_sketch('a'), alike_sketch('a')), alike_alike(alike_sketch('a'), alike_sketch('a')), alike_alike(alike_sketch('a'), alike_sketch('b'));
-- 23|1|0

SELECT alike_feature(alike_sketch('a'), 1) = (SELECT feature FROM alike_features(alike_sketch('a')) WHERE slot = 1);
-- 1

SELECT alike_feature(alike_sketch('a'), 24);
-- Error: alike_feature: slot 24, want 1 to 23

SELECT count(*), count(alike_superfeature(s, slot) = feature OR NULL) FROM (SELECT alike_sketch('a') AS s), alike_superfeatures(s);
-- 253|253

SELECT alike_superfeature(alike_sketch('a'), 254);
-- Error: alike_superfeature: slot 254, want 1 to 253

SELECT alike_containment(alike_sketch('a b c d e', 'words mod=1'), alike_sketch('a b c d e f g h', 'words mod=1'));
-- 1.0

SELECT alike_si_low(1000), alike_si_high(1000), alike_si_low(-1000, 0.5), alike_si_high(-1000, 0.5);
-- 700|1300|-1500|-500

SELECT alike_si('to be or not to be that is the question', 'length');
-- 8

SELECT alike_si('a rose is a rose is a rose', 'length');
-- 3

SELECT alike_si('x', 'forest/21');
-- Error: alike_si: similarity index forest/21: t=168 gives forest/0 to forest/20

SELECT alike_si('x', '99Z/4');
-- Error: alike_si

SELECT round(alike_filter(6, 14, 2, 0.909), 2), alike_filter(12, 7, 2, 1), alike_filter(12, 7, 2, 0);
-- 0.5|1.0|0.0

SELECT alike_filter(12, 7, 13, 0.5);
-- Error: alike_filter

SELECT name, settings FROM alike_profiles() LIMIT 2;
-- prose|words w=2 set fast t=168 k=23 s=4 r=2
-- paragraphs|chars w=5 set fast t=168 k=23 s=4 r=2

SELECT alike_bounds(alike_sketch('a b c d e f'), alike_sketch('a b c d e f'));
-- {"low":0.978281697861324,"estimate":1,"high":1}

SELECT alike_bounds(alike_sketch('a'), alike_sketch('a'), 2);
-- Error: alike_bounds: the confidence is the integer 2, want a number from 0 to 1

SELECT alike_resemblance_exact('a b c d e', 'a b c d f', 'words w=1'), alike_containment_exact('a b', 'a b c', 'words w=1'), alike_resemblance_exact('', 'a');
-- 0.666666666666667|1.0|

SELECT * FROM alike_tokens('The quick, brown FOX') LIMIT 3;
-- 1|the
-- 2|quick
-- 3|brown

SELECT position, shingle FROM alike_shingles('The quick, brown FOX', 'words w=2');
-- 1|the quick
-- 2|quick brown
-- 3|brown fox

SELECT * FROM alike_explain('one two three four', 'zero one two three', 'words w=2');
-- both|one two three|3|1|2
-- left|three four|2|3|
-- right|zero one|2||1

SELECT count(*) FROM alike_cells(1.5, 2, 0.5);
-- 9

SELECT count(*) > 9 FROM alike_cells(1.5, 2, 0.5, 3);
-- 1
