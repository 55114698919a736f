-- Takes the aspect from one object.
call detach_aspect(:'id', 'si_aspect');
