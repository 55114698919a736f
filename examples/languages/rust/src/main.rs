// Rust with rusqlite: cargo run FILE EXTENSION
use rusqlite::{Connection, Result};

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let db = Connection::open(&args[1])?;
    unsafe {
        db.load_extension_enable()?;
        db.load_extension(&args[2], None)?;
    }

    let text = "Jörg’s café in Zürich opens at ten; 東京の支店 opens at nine, and both are closed on Sundays and on public holidays";
    db.execute("insert into notes (author, body) values ('rust', ?)", [text])?;
    let mut question = db.prepare("select printf('%d %.2f', key, resemblance) from alike_rows_like('notes', ?)")?;
    for line in question.query_map([text], |row| row.get::<_, String>(0))? {
        println!("{}", line?);
    }
    println!("{}", db.query_row("select hex(alike_sketch(?, 'words bits=8'))", [text], |row| row.get::<_, String>(0))?);
    Ok(())
}
