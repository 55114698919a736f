-- Queues the rows of a chunk that a COPY cannot read or write.
insert into alike.queue (attachment, key) select {id}, {text_d} from ({rows}) d where {range_d}
