-- Takes the aspect from a type of documents.
call detach_default_aspect(:'type', 'si_aspect');
