//! Files that a command reads as a whole, or standard input in their place.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::de::DeserializeOwned;

use crate::app::App;
use crate::failure::{Context as _, Exit, Stop};
use crate::json::from_versioned_json;

/// Largest file: a million learnings fit.
const DOCUMENT_BYTES_MAX: u64 = 1 << 30;

/// The file to read.
#[derive(Debug, Clone, Args)]
pub(crate) struct DocumentSource {
    /// The file to read; `-` is standard input
    #[arg(short, long, value_name = "FILE")]
    pub(crate) input: PathBuf,
}

/// Reads a JSON file; an error names the place inside that is wrong, and `form` says what was expected.
///
/// # Errors
/// When it cannot be read, or is not what is expected.
pub(crate) fn read_document<T: DeserializeOwned>(
    app: &App,
    source: &DocumentSource,
    form: &str,
) -> anyhow::Result<T> {
    let bytes = read_bytes(app, source)?;
    from_versioned_json(&bytes)
        .map_err(|problem| Stop::new(Exit::Failed, problem.to_string()).hint(form))
        .with_context(|| reading(source))
}

fn reading(source: &DocumentSource) -> String {
    if source.input.as_os_str() == "-" {
        "read standard input".to_owned()
    } else {
        format!("read {}", source.input.display())
    }
}

fn read_bytes(app: &App, source: &DocumentSource) -> anyhow::Result<Vec<u8>> {
    let what = || reading(source);
    let mut bytes = Vec::new();
    if source.input.as_os_str() == "-" {
        std::io::stdin()
            .lock()
            .take(DOCUMENT_BYTES_MAX + 1)
            .read_to_end(&mut bytes)
            .with_context(what)?;
    } else {
        let path = app.surroundings.current.join(&source.input);
        let file = match std::fs::File::open(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(Stop::new(Exit::NotFound, "there is no such file")).with_context(what);
            }
            other => other.with_context(what)?,
        };
        file.take(DOCUMENT_BYTES_MAX + 1)
            .read_to_end(&mut bytes)
            .with_context(what)?;
    }
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > DOCUMENT_BYTES_MAX {
        let message = format!("it is larger than {DOCUMENT_BYTES_MAX} bytes");
        return Err(Stop::new(Exit::Failed, message)).with_context(what);
    }
    Ok(bytes)
}

/// Reads a text.
///
/// # Errors
/// When it cannot be read, or is not UTF-8.
pub(crate) fn read_text(app: &App, source: &DocumentSource) -> anyhow::Result<String> {
    let bytes = read_bytes(app, source)?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let before = error.as_bytes().iter();
        let before = before.take(error.utf8_error().valid_up_to());
        let line = before.filter(|byte| **byte == b'\n').count() + 1;
        Stop::new(Exit::Failed, format!("line {line} is not UTF-8"))
            .hint("save the file as UTF-8, then run the command again")
    });
    text.with_context(|| reading(source))
}

/// Writes what was exported to a file, and says so; `-` is standard output, which gets nothing else.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn export(app: &App, file: &Path, text: &str, what: &str) -> anyhow::Result<()> {
    if file.as_os_str() == "-" {
        return app.out.write_raw(text.as_bytes());
    }
    let path = app.surroundings.current.join(file);
    write(&path, text).with_context(|| format!("write {}", path.display()))?;
    app.out
        .note(&format!("Exported {what} to {}.", path.display()));
    Ok(())
}

/// Writes what was asked for into a file, in a folder that is there.
///
/// # Errors
/// When the file cannot be written.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    if !folder.is_dir() {
        let what = format!("there is no folder {}", folder.display());
        return Err(std::io::Error::new(std::io::ErrorKind::NotFound, what));
    }
    match path.metadata() {
        // a pipe or a device takes the text as it comes: it must not be replaced by a file
        Ok(there) if !there.is_file() => std::fs::write(path, text),
        // a link keeps leading to its file
        Ok(_) => symphony_workspace::write_whole(&path.canonicalize()?, text),
        Err(_) => symphony_workspace::write_whole(path, text),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileTypeExt;

    use super::*;

    #[test]
    fn a_link_keeps_leading_to_its_file_and_a_device_stays_one() {
        let folder = tempfile::tempdir().unwrap();
        let (link, led) = (folder.path().join("link"), folder.path().join("led"));
        std::fs::write(&led, "old").unwrap();
        std::os::unix::fs::symlink(&led, &link).unwrap();
        write(&link, "new").unwrap();
        assert_eq!(std::fs::read_to_string(&led).unwrap(), "new");
        assert!(link.symlink_metadata().unwrap().is_symlink());
        // a link to the device: the test must not be able to harm the machine's own
        let device = folder.path().join("null");
        std::os::unix::fs::symlink("/dev/null", &device).unwrap();
        write(&device, "new").unwrap();
        assert!(device.metadata().unwrap().file_type().is_char_device());
    }
}
