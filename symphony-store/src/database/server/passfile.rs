//! The password of a user, from a file like `~/.pgpass` (PostgreSQL's manual, "The Password File").

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use symphony_core::config::{ServerAddress, ServerHost};

/// The file in the home folder that is read when the address names none.
const IN_HOME: &str = ".pgpass";
/// The bits of everyone but the owner.
const OTHERS: u32 = 0o077;
/// What the file calls a Unix socket in the default folder, whatever folder that is.
const SOCKET_HOST: &str = "localhost";

/// Reads the password for an address; `None` where no file has one.
///
/// # Errors
/// In words: the named file cannot be read, or others may read it. A file in the home folder may be missing.
pub(super) fn password_for(address: &ServerAddress) -> Result<Option<String>, String> {
    let (path, is_named) = match address.passfile() {
        Some(path) => (path.to_owned(), true),
        None => match std::env::var_os("HOME") {
            Some(home) => (PathBuf::from(home).join(IN_HOME), false),
            None => return Ok(None),
        },
    };
    let text = match read(&path) {
        Ok(text) => text,
        Err(ReadError::Missing) if !is_named => return Ok(None),
        Err(ReadError::Missing) => return Err(format!("there is no passfile {}", path.display())),
        Err(ReadError::Other(reason)) => return Err(reason),
    };
    Ok(find(&text, address))
}

enum ReadError {
    Missing,
    Other(String),
}

fn read(path: &Path) -> Result<String, ReadError> {
    let failed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => ReadError::Missing,
        _ => ReadError::Other(format!(
            "the passfile {} cannot be read: {error}",
            path.display()
        )),
    };
    let mode = path.metadata().map_err(failed)?.permissions().mode();
    if mode & OTHERS != 0 {
        return Err(ReadError::Other(format!(
            "others may read the passfile {0}: `chmod 600 {0}`",
            path.display()
        )));
    }
    std::fs::read_to_string(path).map_err(failed)
}

/// Returns the password of the first line `host:port:database:user:password` that fits; `*` fits everything.
fn find(text: &str, address: &ServerAddress) -> Option<String> {
    let host = match address.host() {
        ServerHost::Name(name) => name.clone(),
        ServerHost::Socket(folder) => folder.display().to_string(),
    };
    let is_socket = matches!(address.host(), ServerHost::Socket(_));
    let port = address.port().to_string();
    let wanted = [&host, &port, address.database(), address.user()];
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .find_map(|line| {
            let fields = fields(line);
            let (password, place) = fields.split_last().filter(|_| fields.len() == 5)?;
            let fits = place
                .iter()
                .zip(wanted)
                .enumerate()
                .all(|(at, (field, wanted))| {
                    field == "*"
                        || field == wanted
                        || (at == 0 && is_socket && field == SOCKET_HOST)
                });
            fits.then(|| password.clone())
        })
}

/// Splits a line at its colons; `\:` and `\\` are the characters themselves. What follows the fourth colon is the password.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        let is_password = fields.len() == 5;
        let literal = match character {
            ':' if !is_password => {
                fields.push(String::new());
                continue;
            }
            '\\' => characters.next().unwrap_or('\\'),
            other => other,
        };
        if let Some(field) = fields.last_mut() {
            field.push(literal);
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_fits_has_the_password() {
        let file = "# host:port:database:user:password\n\
                    db.example:5432:team:ann:of ann\n\
                    db.example:*:*:bob:with\\:colon\\\\ and : more\n\
                    too:few:fields\n\
                    localhost:5432:team:eve:by socket\n\
                    *:*:*:*:for all\n";
        for (address, password) in [
            ("postgres://ann@db.example/team", "of ann"),
            ("postgres://bob@db.example:9/x", "with:colon\\ and : more"),
            ("postgres://eve@/team?host=/run/postgresql", "by socket"),
            ("postgres://eve@db.example/team", "for all"),
        ] {
            let address = ServerAddress::parse(address).unwrap();
            assert_eq!(find(file, &address).as_deref(), Some(password), "{address}");
        }
        let address = ServerAddress::parse("postgres://ann@other/team").unwrap();
        assert_eq!(find("db.example:5432:team:ann:x", &address), None);
    }

    #[test]
    fn a_file_that_others_may_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pass");
        let text = format!("postgres://ann@127.0.0.1/d?passfile={}", path.display());
        let address = ServerAddress::parse(&text).unwrap();
        assert_eq!(
            password_for(&address),
            Err(format!("there is no passfile {}", path.display()))
        );
        std::fs::write(&path, "*:*:*:ann:secret\n").unwrap();
        let mode = |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode));
        mode(0o640).unwrap();
        assert_eq!(
            password_for(&address),
            Err(format!(
                "others may read the passfile {0}: `chmod 600 {0}`",
                path.display()
            ))
        );
        mode(0o600).unwrap();
        assert_eq!(password_for(&address), Ok(Some("secret".to_owned())));
    }
}
