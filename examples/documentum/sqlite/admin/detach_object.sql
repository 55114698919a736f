-- Takes the aspect from one object.
insert into detach_aspect values (:id, 'si_aspect');
