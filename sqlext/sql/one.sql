{{- /* Checks one row in, as the trigger does. */ -}}
{{template "checkin" (.At "?")}}
