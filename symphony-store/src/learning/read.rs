//! Reading prepared learnings into a ranking: rows and packs, with one range scan each.

use symphony_core::id::ProjectId;
use symphony_core::learning::{Learning, LearningSource, LearningType};
use symphony_learning::{Head, Prepared, PreparedRef, Ranker};

use crate::database::row::time;
use crate::db::{Row, Transaction, params_from_iter};
use crate::error::StoreError;
use crate::learning::pack::{Entry, for_each_entry};
use crate::learning::row::load_learning;
use crate::learning::state::proposed_by;

/// Which learnings are ranked. Only accepted ones are.
#[derive(Debug, Clone, Copy)]
pub enum LearningScope<'a> {
    /// Those of one project, and those that this work proposed.
    Project(&'a ProjectId, Option<&'a LearningSource>),
    /// Those of all projects but this one.
    Others(&'a ProjectId),
    /// Those of all projects.
    Installation,
}

impl LearningScope<'_> {
    /// Returns the query for the rows of each scope, each of which is a range of the primary key, or all of it.
    const fn rows_sql(self) -> &'static str {
        match self {
            Self::Project(..) => {
                "SELECT learning, learning_type, created_at, prepared, project FROM learning_prepared WHERE project = ?1"
            }
            Self::Others(_) => {
                "SELECT learning, learning_type, created_at, prepared, project FROM learning_prepared
                 WHERE project < ?1
                 UNION ALL SELECT learning, learning_type, created_at, prepared, project FROM learning_prepared
                 WHERE project > ?1"
            }
            Self::Installation => {
                "SELECT learning, learning_type, created_at, prepared, project FROM learning_prepared"
            }
        }
    }

    /// Returns the query for the packs of each scope.
    const fn packs_sql(self) -> &'static str {
        match self {
            Self::Project(..) => "SELECT id, project, forms FROM learning_pack WHERE project = ?1",
            Self::Others(_) => "SELECT id, project, forms FROM learning_pack WHERE project <> ?1",
            Self::Installation => "SELECT id, project, forms FROM learning_pack",
        }
    }

    fn project(&self) -> Option<&str> {
        match self {
            Self::Project(project, _) | Self::Others(project) => Some(project.as_str()),
            Self::Installation => None,
        }
    }
}

/// The length of a short entry of a pack, to reserve memory.
const ENTRY_BYTES: usize = 256;
/// The length of most ids.
const UUID_CHARS: usize = 36;

/// Ids in the order in which they were pushed, concatenated, since a ranking refers to learnings by index.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    text: String,
    ends: Vec<usize>,
}

impl Ids {
    fn reserve(&mut self, count: usize) {
        self.text.reserve(count * UUID_CHARS);
        self.ends.reserve(count);
    }

    fn push(&mut self, id: &str) {
        self.text.push_str(id);
        self.ends.push(self.text.len());
    }

    pub(crate) fn get(&self, index: usize) -> Option<&str> {
        let start = index
            .checked_sub(1)
            .map_or(Some(0), |i| self.ends.get(i).copied())?;
        self.text.get(start..*self.ends.get(index)?)
    }
}

/// What was prepared again, and for which learning.
#[derive(Debug)]
pub(crate) struct Renewed {
    pub(crate) project: String,
    pub(crate) learning: String,
    /// The pack that it was in.
    pub(crate) pack: Option<i64>,
    pub(crate) prepared: Prepared,
}

/// A learning whose prepared form is missing, damaged, or of another version.
#[derive(Debug)]
struct Stale {
    project: String,
    learning: String,
    pack: Option<i64>,
}

/// Pushes the learnings of a scope into a ranking.
#[derive(Debug)]
pub(crate) struct LearningReader<'r, 's> {
    ranker: &'r mut Ranker<'s>,
    ids: Ids,
    stale: Vec<Stale>,
}

impl<'r, 's> LearningReader<'r, 's> {
    pub(crate) fn new(ranker: &'r mut Ranker<'s>) -> Self {
        Self {
            ranker,
            ids: Ids::default(),
            stale: Vec::new(),
        }
    }

    /// Returns the ids that were pushed.
    pub(crate) fn into_ids(self) -> Ids {
        self.ids
    }

    /// Reads the learnings of a scope, except those that must be prepared again.
    pub(crate) fn read(
        &mut self,
        tx: &Transaction<'_>,
        scope: LearningScope<'_>,
    ) -> Result<(), StoreError> {
        let mut statement = tx.prepare_cached(scope.rows_sql())?;
        let mut rows = statement.query(params_from_iter(scope.project()))?;
        while let Some(row) = &rows.next()? {
            self.row(row)?;
        }
        self.reserve(tx, scope)?;
        let mut statement = tx.prepare_cached(scope.packs_sql())?;
        let mut rows = statement.query(params_from_iter(scope.project()))?;
        while let Some(row) = &rows.next()? {
            self.pack(row)?;
        }
        if let LearningScope::Project(_, Some(source)) = scope {
            for record in proposed_by(tx, source)? {
                self.push(&record.learning, &Prepared::new(&record.learning));
            }
        }
        Ok(())
    }

    /// Reserves memory for the contents of the packs, which growing step by step would copy. Unused memory costs
    /// nothing.
    fn reserve(
        &mut self,
        tx: &Transaction<'_>,
        scope: LearningScope<'_>,
    ) -> Result<(), StoreError> {
        let sql = format!(
            "SELECT total(length(forms)) FROM ({}) AS packs",
            scope.packs_sql()
        );
        let bytes: f64 = tx
            .prepare_cached(&sql)?
            .query_row(params_from_iter(scope.project()), |row| row.get(0))?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a sum of lengths: whole, not negative, far below 2^53"
        )]
        let bytes = bytes as usize;
        self.ranker.reserve(bytes / ENTRY_BYTES, bytes / 2);
        self.ids.reserve(bytes / ENTRY_BYTES);
        Ok(())
    }

    /// Takes one row. Its columns are borrowed, so that only what the ranking keeps is copied.
    fn row(&mut self, row: &Row<'_>) -> Result<(), StoreError> {
        let text = |column| {
            row.get_ref(column)?
                .as_str_or_null()
                .map_err(|_type| invalid())
        };
        let entry = Entry {
            id: text(0)?.ok_or_else(invalid)?,
            issue: None,
            learning_type: text(1)?,
            created_at: row.get(2)?,
            form: row.get_ref(3)?.as_blob().map_err(|_type| invalid())?,
        };
        if !self.take(entry)? {
            self.stale.push(Stale {
                project: row.get(4)?,
                learning: entry.id.to_owned(),
                pack: None,
            });
        }
        Ok(())
    }

    /// Takes the entries of a pack.
    fn pack(&mut self, row: &Row<'_>) -> Result<(), StoreError> {
        let pack = row.get_ref(2)?.as_blob().map_err(|_type| invalid())?;
        for_each_entry(pack, |entry| {
            if !self.take(entry)? {
                self.stale.push(Stale {
                    project: row.get(1)?,
                    learning: entry.id.to_owned(),
                    pack: Some(row.get(0)?),
                });
            }
            Ok(())
        })
    }

    /// Takes a learning. Returns `false` when its form cannot be used.
    fn take(&mut self, entry: Entry<'_>) -> Result<bool, StoreError> {
        let Ok(prepared) = PreparedRef::decode(entry.form) else {
            return Ok(false);
        };
        let head = Head {
            id: entry.id,
            learning_type: entry.learning_type.map(learning_type).transpose()?,
            created_at: time(entry.created_at)?,
        };
        self.ranker.push(head, prepared);
        self.ids.push(entry.id);
        Ok(true)
    }

    /// Takes a learning that was prepared here.
    fn push(&mut self, learning: &Learning, prepared: &Prepared) {
        let head = Head {
            id: learning.id.as_str(),
            learning_type: learning.learning_type,
            created_at: learning.created_at,
        };
        self.ranker.push(head, prepared.view());
        self.ids.push(learning.id.as_str());
    }

    /// Prepares the learnings that could not be used, and takes them.
    pub(crate) fn renew(&mut self, tx: &Transaction<'_>) -> Result<Vec<Renewed>, StoreError> {
        let mut renewed = Vec::with_capacity(self.stale.len());
        for Stale {
            project,
            learning,
            pack,
        } in std::mem::take(&mut self.stale)
        {
            let record = load_learning(tx, &learning)?.learning;
            let prepared = Prepared::new(&record);
            self.push(&record, &prepared);
            renewed.push(Renewed {
                project,
                learning,
                pack,
                prepared,
            });
        }
        Ok(renewed)
    }
}

fn invalid() -> StoreError {
    StoreError::InvalidRow {
        what: "prepared learning",
        found: "a column of another type".to_owned(),
    }
}

fn learning_type(name: &str) -> Result<LearningType, StoreError> {
    LearningType::parse(name).map_err(|error| StoreError::InvalidRow {
        what: "learning type",
        found: error.found,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::open::Store;
    use crate::database::query_plan::query_plan;

    #[test]
    fn every_scope_is_one_range_of_the_primary_key() {
        let store = Store::open_in_memory().unwrap();
        let project = ProjectId::parse("demo").unwrap();
        let plan = |sql: &str| -> Vec<String> {
            let mut steps = query_plan(&store.conn, sql);
            steps.retain(|line| line.contains("learning_p"));
            steps
        };
        let rows = |scope: LearningScope<'_>| plan(scope.rows_sql());
        let by = |range: &str| format!("SEARCH learning_prepared USING PRIMARY KEY ({range})");
        assert_eq!(
            rows(LearningScope::Project(&project, None)),
            [by("project=?")]
        );
        assert_eq!(
            rows(LearningScope::Others(&project)),
            [by("project<?"), by("project>?")]
        );
        assert_eq!(
            rows(LearningScope::Installation),
            ["SCAN learning_prepared"]
        );
        let packs = plan(LearningScope::Project(&project, None).packs_sql());
        assert_eq!(
            packs,
            ["SEARCH learning_pack USING INDEX learning_pack_project (project=?)"]
        );
    }

    #[test]
    fn ids_are_found_by_index() {
        let mut ids = Ids::default();
        for id in ["a", "bcd", "ef"] {
            ids.push(id);
        }
        let all: Vec<_> = (0..4).map(|index| ids.get(index)).collect();
        assert_eq!(all, [Some("a"), Some("bcd"), Some("ef"), None]);
    }
}
