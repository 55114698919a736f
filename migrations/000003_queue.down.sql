drop table alike.error;
drop table alike.backfill;
drop table alike.chunk;
drop table alike.extraction;
drop table alike.queue;
