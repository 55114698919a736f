-- Every document: its key, the document and its media type.
select {text_d}, d.alike_document, d.alike_media from ({rows}) d where d.alike_document is not null
