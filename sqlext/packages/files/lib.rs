//! Alike finds the rows of a SQLite table that are roughly the same. With rusqlite:
//!
//! ```ignore
//! let alike = sqlite_alike::unpack()?;
//! unsafe {
//!     db.load_extension_enable()?;
//!     db.load_extension(alike.path(), None)?;
//! }
//! db.load_extension_disable()?;
//! ```

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, io, process, time};

LIBRARY

/// The extension in a file of its own, which is deleted with this value. A connection that
/// has loaded it keeps it.
pub struct Extension {
    folder: PathBuf,
    file: PathBuf,
}

impl Extension {
    /// The path, as `load_extension` takes it.
    pub fn path(&self) -> &Path {
        &self.file
    }
}

impl Drop for Extension {
    fn drop(&mut self) {
        // Windows keeps a library that is loaded; nobody can be told here.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

static UNPACKED: AtomicUsize = AtomicUsize::new(0);

/// Writes the extension into a new folder that only this user can write.
pub fn unpack() -> io::Result<Extension> {
    if LIBRARY.is_empty() {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "sqlite-alike has no library for this platform"));
    }
    let now = time::SystemTime::now().duration_since(time::UNIX_EPOCH).map_or(0, |d| d.as_nanos());
    let n = UNPACKED.fetch_add(1, Ordering::Relaxed); // two threads may see one time
    let folder = env::temp_dir().join(format!("sqlite-alike-{}-{}-{}", process::id(), now, n));
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(&folder)?; // fails where the name is taken
    let extension = Extension { file: folder.join(FILE), folder };
    fs::write(&extension.file, LIBRARY)?;
    Ok(extension)
}
