// Java with sqlite-jdbc: java -cp 'JARS/*' Notes.java FILE EXTENSION
import java.sql.*;
import org.sqlite.SQLiteConfig;

class Notes {
    public static void main(String[] args) throws SQLException {
        SQLiteConfig config = new SQLiteConfig();
        config.enableLoadExtension(true);
        String text = "Jörg’s café in Zürich opens at ten; 東京の支店 opens at nine, and both are closed on Sundays and on public holidays";
        try (Connection db = config.createConnection("jdbc:sqlite:" + args[0])) {
            ask(db, "select load_extension(?)", args[1], false);
            try (PreparedStatement insert = db.prepareStatement("insert into notes (author, body) values ('java', ?)")) {
                insert.setString(1, text);
                insert.executeUpdate();
            }
            ask(db, "select printf('%d %.2f', key, resemblance) from alike_rows_like('notes', ?)", text, true);
            ask(db, "select hex(alike_sketch(?, 'words bits=8'))", text, true);
        }
    }

    static void ask(Connection db, String sql, String argument, boolean print) throws SQLException {
        try (PreparedStatement query = db.prepareStatement(sql)) {
            query.setString(1, argument);
            for (ResultSet rows = query.executeQuery(); rows.next();) {
                if (print) System.out.println(rows.getString(1));
            }
        }
    }
}
