drop function alike._pairs_across_nodes(alike.attachment);
drop function alike._make_probe(alike.attachment);
drop function alike._pair_across_nodes(alike.attachment);
drop function alike._distribute(alike.attachment);
drop function alike._check_distributed(regclass, boolean, jsonb);
