<?php
// PHP: php -d sqlite3.extension_dir=FOLDER notes.php FILE NAME, where the extension is FOLDER/NAME
$db = new SQLite3($argv[1]);
$db->enableExceptions(true);
$db->loadExtension($argv[2]);

$text = 'Jörg’s café in Zürich opens at ten; 東京の支店 opens at nine, and both are closed on Sundays and on public holidays';
$insert = $db->prepare("insert into notes (author, body) values ('php', ?)");
$insert->bindValue(1, $text);
$insert->execute();
$question = $db->prepare("select printf('%d %.2f', key, resemblance) from alike_rows_like('notes', ?)");
$question->bindValue(1, $text);
for ($rows = $question->execute(); $row = $rows->fetchArray(SQLITE3_NUM);) {
    echo $row[0], "\n";
}
$sketch = $db->prepare("select hex(alike_sketch(?, 'words bits=8'))");
$sketch->bindValue(1, $text);
echo $sketch->execute()->fetchArray(SQLITE3_NUM)[0], "\n";
