# Alike finds the rows of a SQLite table that are roughly the same.
#
#   db = SQLite3::Database.new("documents.db")
#   SqliteAlike.load(db)
module SqliteAlike
  RELEASE = "VERSION"

  # The path of the extension, as load_extension takes it.
  def self.loadable_path
    Dir[File.join(__dir__, "alike.{so,dll,dylib}")].first
  end

  # Loads the extension into a database of the gem sqlite3.
  def self.load(db)
    db.enable_load_extension(true)
    db.load_extension(loadable_path)
  ensure
    db.enable_load_extension(false)
  end
end
