-- Attaches the aspect to one object.
insert into attach_aspect values (:id, 'si_aspect');
