-- Attaches the aspect to one object.
call attach_aspect(:'id', 'si_aspect');
