-- Attaches the aspect to a type of documents; what is there already gets it from the backfill.
call attach_default_aspect(:'type', 'si_aspect');
