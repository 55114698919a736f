-- Attaches the aspect to a type of documents; what is there already gets it from the backfill.
insert into attach_default_aspect values (:type, 'si_aspect');
