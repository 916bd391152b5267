//! Packs: the prepared forms of many learnings in one row.
//!
//! A learning that may be given to agents is either in `learning_prepared`, as a separate row, or in one pack. When
//! there are many rows, they are moved into packs. A pack that has to change is split into rows first, and packed again
//! later.
//!
//! Layout of an entry, with little-endian numbers: time of recording (i64, milliseconds), length of the form (u32),
//! lengths of id, of issue (0 for none) and of kind (0 for none; u8 each), one zero; then id, issue, kind, form.

use crate::db::{Transaction, params};
use crate::error::StoreError;

/// How many rows a project may have beside its packs. Each costs a dispatch ten times as much as a packed one.
const LOOSE_MAX: i64 = 256;
/// The size at which a pack is complete: about 150 learnings, which are split in a millisecond. It is below 64 KiB,
/// above which freeing memory makes the allocator clean up each time.
const PACK_BYTES: usize = 48 * 1024;
/// The length of an entry's header, before its texts.
const HEADER: usize = 16;

/// The prepared form of a learning with everything else that ranking reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry<'a> {
    pub(crate) id: &'a str,
    pub(crate) issue: Option<&'a str>,
    pub(crate) learning_type: Option<&'a str>,
    pub(crate) created_at: i64,
    pub(crate) form: &'a [u8],
}

impl<'a> Entry<'a> {
    /// Appends it to a pack. Returns `false` when it does not fit.
    fn append(&self, pack: &mut Vec<u8>) -> bool {
        let (issue, kind) = (
            self.issue.unwrap_or_default(),
            self.learning_type.unwrap_or_default(),
        );
        let (Ok(form), Ok(id), Ok(issue_bytes), Ok(kind_bytes)) = (
            u32::try_from(self.form.len()),
            u8::try_from(self.id.len()),
            u8::try_from(issue.len()),
            u8::try_from(kind.len()),
        ) else {
            return false;
        };
        pack.extend_from_slice(&self.created_at.to_le_bytes());
        pack.extend_from_slice(&form.to_le_bytes());
        pack.extend_from_slice(&[id, issue_bytes, kind_bytes, 0]);
        for text in [self.id, issue, kind] {
            pack.extend_from_slice(text.as_bytes());
        }
        pack.extend_from_slice(self.form);
        true
    }

    /// Reads the first entry, and returns the rest of the pack.
    fn first(pack: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (header, rest) = pack.split_first_chunk::<HEADER>()?;
        let (created_at, sizes) = header.split_first_chunk::<8>()?;
        let (form_bytes, sizes) = sizes.split_first_chunk::<4>()?;
        let &[id, issue, kind, _zero] = sizes.first_chunk::<4>()?;
        let (id, rest) = rest.split_at_checked(usize::from(id))?;
        let (issue, rest) = rest.split_at_checked(usize::from(issue))?;
        let (kind, rest) = rest.split_at_checked(usize::from(kind))?;
        let form_bytes = usize::try_from(u32::from_le_bytes(*form_bytes)).ok()?;
        let (form, rest) = rest.split_at_checked(form_bytes)?;
        let optional = |bytes| -> Option<Option<&str>> {
            let text = std::str::from_utf8(bytes).ok()?;
            Some((!text.is_empty()).then_some(text))
        };
        let entry = Self {
            id: std::str::from_utf8(id).ok()?,
            issue: optional(issue)?,
            learning_type: optional(kind)?,
            created_at: i64::from_le_bytes(*created_at),
            form,
        };
        Some((entry, rest))
    }
}

/// Calls `take` with each entry of a pack.
pub(crate) fn for_each_entry<'a>(
    pack: &'a [u8],
    mut take: impl FnMut(Entry<'a>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let mut rest = pack;
    while !rest.is_empty() {
        let (entry, behind) = Entry::first(rest).ok_or_else(|| StoreError::InvalidRow {
            what: "learning pack",
            found: format!("{} bytes at the end of {}", rest.len(), pack.len()),
        })?;
        take(entry)?;
        rest = behind;
    }
    Ok(())
}

/// Moves the rows of a project into packs when there are many. Rows that are not prepared yet stay.
pub(crate) fn pack_rows(tx: &Transaction<'_>, project: &str) -> Result<(), StoreError> {
    let rows: i64 = tx
        .prepare_cached(
            "SELECT count(*) FROM learning_prepared WHERE project = ?1 AND length(prepared) > 0",
        )?
        .query_row([project], |row| row.get(0))?;
    if rows <= LOOSE_MAX {
        return Ok(());
    }
    let mut insert =
        tx.prepare_cached("INSERT INTO learning_pack (project, forms) VALUES (?1, ?2)")?;
    let mut packed: Vec<String> = Vec::new();
    let mut pack = Vec::with_capacity(2 * PACK_BYTES);
    let mut statement = tx.prepare_cached(
        "SELECT learning, issue, learning_type, created_at, prepared FROM learning_prepared
         WHERE project = ?1 AND length(prepared) > 0",
    )?;
    let mut rows = statement.query([project])?;
    while let Some(row) = &rows.next()? {
        let id: String = row.get(0)?;
        let (issue, kind): (Option<String>, Option<String>) = (row.get(1)?, row.get(2)?);
        let form: Vec<u8> = row.get(4)?;
        let entry = Entry {
            id: &id,
            issue: issue.as_deref(),
            learning_type: kind.as_deref(),
            created_at: row.get(3)?,
            form: &form,
        };
        if entry.append(&mut pack) {
            packed.push(id);
        }
        if pack.len() >= PACK_BYTES {
            insert.execute(params![project, pack])?;
            pack.clear();
        }
    }
    drop(rows);
    if !pack.is_empty() {
        insert.execute(params![project, pack])?;
    }
    let mut delete =
        tx.prepare_cached("DELETE FROM learning_prepared WHERE project = ?1 AND learning = ?2")?;
    for id in packed {
        delete.execute([project, &id])?;
    }
    Ok(())
}

/// Splits a pack into rows.
pub(crate) fn unpack(tx: &Transaction<'_>, pack: i64) -> Result<(), StoreError> {
    let mut statement =
        tx.prepare_cached("SELECT project, forms FROM learning_pack WHERE id = ?1")?;
    let mut rows = statement.query([pack])?;
    let Some(row) = rows.next()? else {
        // Another process was faster.
        return Ok(());
    };
    let (project, forms): (String, Vec<u8>) = (row.get(0)?, row.get(1)?);
    drop(rows);
    let mut insert = tx.prepare_cached(
        "INSERT INTO learning_prepared (project, learning, issue, learning_type, created_at, prepared)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    for_each_entry(&forms, |entry| {
        insert.execute(params![
            project,
            entry.id,
            entry.issue,
            entry.learning_type,
            entry.created_at,
            entry.form
        ])?;
        Ok(())
    })?;
    tx.prepare_cached("DELETE FROM learning_pack WHERE id = ?1")?
        .execute([pack])?;
    Ok(())
}

/// Splits the pack that a learning is in, if it is in one.
pub(crate) fn unpack_learning(
    tx: &Transaction<'_>,
    project: &str,
    learning: &str,
) -> Result<(), StoreError> {
    let mut found = None;
    let mut statement =
        tx.prepare_cached("SELECT id, forms FROM learning_pack WHERE project = ?1")?;
    let mut rows = statement.query([project])?;
    while let (None, Some(row)) = (found, rows.next()?) {
        let (id, forms): (i64, Vec<u8>) = (row.get(0)?, row.get(1)?);
        for_each_entry(&forms, |entry| {
            if entry.id == learning {
                found = Some(id);
            }
            Ok(())
        })?;
    }
    drop(rows);
    found.map_or(Ok(()), |pack| unpack(tx, pack))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRIES: [Entry<'static>; 3] = [
        Entry {
            id: "a",
            issue: Some("DEM-1"),
            learning_type: Some("gotcha"),
            created_at: -5,
            form: b"form",
        },
        Entry {
            id: "bcd",
            issue: None,
            learning_type: None,
            created_at: i64::MAX,
            form: b"",
        },
        Entry {
            id: "e",
            issue: None,
            learning_type: Some("pattern"),
            created_at: 7,
            form: &[0xff; 300],
        },
    ];

    fn read(pack: &[u8]) -> Result<Vec<Entry<'_>>, String> {
        let mut entries = Vec::new();
        for_each_entry(pack, |entry| {
            entries.push(entry);
            Ok(())
        })
        .map_err(|error| error.to_string())?;
        Ok(entries)
    }

    #[test]
    fn what_is_packed_is_read_again() {
        let mut pack = Vec::new();
        assert!(ENTRIES.iter().all(|entry| entry.append(&mut pack)));
        assert_eq!(read(&pack).unwrap(), ENTRIES);
    }

    #[test]
    fn a_pack_that_is_cut_off_is_an_error_at_every_length() {
        let mut pack = Vec::new();
        let mut ends = vec![0];
        for entry in ENTRIES {
            entry.append(&mut pack);
            ends.push(pack.len());
        }
        for length in 0..pack.len() {
            assert_eq!(
                read(&pack[..length]).is_ok(),
                ends.contains(&length),
                "{length}"
            );
        }
    }
}
