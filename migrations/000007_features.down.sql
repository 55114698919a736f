drop function alike._features(bytea);
drop function alike._feature_table();
