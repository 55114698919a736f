-- Takes the aspect from a type of documents.
insert into detach_default_aspect values (:type, 'si_aspect');
