//! Every text of the database in turn, for a search that must not miss any (I15).

use crate::database::open::Store;
use crate::db::ValueRef;
use crate::error::StoreError;

/// Where a text is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextPlace<'a> {
    /// The table.
    pub table: &'a str,
    /// The column.
    pub column: &'a str,
    /// The row: the value of the first column, which is its key or the beginning of it.
    pub row: String,
}

impl Store {
    /// Shows every text of the database to `look`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn for_each_text(
        &mut self,
        look: &mut dyn FnMut(&TextPlace<'_>, &[u8]),
    ) -> Result<(), StoreError> {
        self.read(|tx| {
            for table in &tx.tables()? {
                let mut statement = tx.prepare(&format!("SELECT * FROM \"{table}\""))?;
                let columns = statement.column_names()?;
                let mut rows = statement.query([])?;
                while let Some(row) = &rows.next()? {
                    let key = match row.get_ref(0)? {
                        ValueRef::Integer(number) => number.to_string(),
                        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
                        ValueRef::Null | ValueRef::Real(_) | ValueRef::Blob(_) => String::new(),
                    };
                    for (index, column) in columns.iter().enumerate() {
                        if let ValueRef::Text(bytes) | ValueRef::Blob(bytes) = row.get_ref(index)? {
                            let row = key.clone();
                            look(&TextPlace { table, column, row }, bytes);
                        }
                    }
                }
            }
            Ok(())
        })
    }
}
