//! Configuration files on a real file system.

mod edit;
mod load;
mod lookup;
mod text;

use std::fs;
use std::path::Path;

/// Writes a file, with its folders.
fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("the path has a folder")).expect("a temporary folder");
    fs::write(path, text).expect("a temporary file");
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("the file is there")
}

/// Shows errors without the temporary folder's name.
fn shown(error: &impl ToString, folder: &Path) -> String {
    error
        .to_string()
        .replace(&folder.display().to_string(), "DIR")
}
