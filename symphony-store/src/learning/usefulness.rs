//! How useful learnings were: the cases of their project with them and without.
//!
//! It compares issues that ended after the learning was accepted, without those that it comes from. The statistics are
//! in `symphony_learning::Comparison`.

use std::collections::BTreeMap;

use symphony_core::id::{LearningId, ProjectId};
use symphony_learning::{CASES_MIN, Case, Comparison, Group};

use crate::database::open::Store;
use crate::database::row::{count, count32, parsed};
use crate::db::{Connection, OptionalExtension, params};
use crate::error::StoreError;

/// How many of a project's newest cases are compared. What helped years ago says little about today, and each dispatch
/// reads them.
const CASES_MAX: i64 = 2_000;

/// The cases of a project, newest first, with the place of each issue's case.
struct Cases {
    list: Vec<(i64, Case)>,
    places: BTreeMap<String, usize>,
}

/// A learning that some cases had.
struct Had {
    accepted_at: i64,
    /// The places of the cases that had it.
    places: Vec<usize>,
    /// The places of the cases that it comes from.
    sources: Vec<usize>,
}

/// On which side a case counts for a learning.
#[derive(Clone, Copy)]
enum Side {
    With,
    Without,
    Neither,
}

impl Had {
    fn compare(&self, cases: &Cases) -> Comparison {
        let mut sides = vec![Side::Without; cases.list.len()];
        for (places, side) in [(&self.places, Side::With), (&self.sources, Side::Neither)] {
            for place in places {
                if let Some(slot) = sides.get_mut(*place) {
                    *slot = side;
                }
            }
        }
        let (mut with, mut without) = (Group::default(), Group::default());
        let later = cases.list.iter().zip(sides);
        for ((_, case), side) in later.take_while(|((ended_at, _), _)| *ended_at > self.accepted_at)
        {
            match side {
                Side::With => with.add(case),
                Side::Without => without.add(case),
                Side::Neither => {}
            }
        }
        Comparison::new(with, without)
    }
}

/// Returns the scores for the ranking of a project's learnings, by id: only of those with enough cases, and only if
/// these show a difference.
pub(crate) fn scores(
    conn: &Connection,
    project: &ProjectId,
) -> Result<BTreeMap<String, f64>, StoreError> {
    let compared = compared(conn, project, CASES_MIN)?;
    Ok(compared
        .into_iter()
        .filter(|(_, comparison)| comparison.score != 0.0)
        .map(|(id, comparison)| (id, comparison.score))
        .collect())
}

/// Makes the comparison for each learning that enough cases had.
fn compared(
    conn: &Connection,
    project: &ProjectId,
    cases_min: u64,
) -> Result<BTreeMap<String, Comparison>, StoreError> {
    let cases = load_cases(conn, project)?;
    let had = load_had(conn, project, &cases, cases_min)?;
    let compared = had.into_iter().map(|(id, had)| (id, had.compare(&cases)));
    Ok(compared.collect())
}

/// The newest cases of a project.
const CASES_SQL: &str =
    "SELECT issue, merged_first_time, attempts, tokens, ended_at FROM issue_case WHERE project = ?1
     ORDER BY ended_at DESC, issue LIMIT ?2";

fn load_cases(conn: &Connection, project: &ProjectId) -> Result<Cases, StoreError> {
    let mut statement = conn.prepare_cached(CASES_SQL)?;
    let mut rows = statement.query(params![project.as_str(), CASES_MAX])?;
    let (mut list, mut places) = (Vec::new(), BTreeMap::new());
    while let Some(row) = &rows.next()? {
        places.insert(row.get("issue")?, list.len());
        let case = Case {
            merged_first_time: row.get("merged_first_time")?,
            attempts: count32(row, "attempts")?,
            tokens: count(row, "tokens")?,
        };
        list.push((row.get("ended_at")?, case));
    }
    Ok(Cases { list, places })
}

/// Which of a project's newest cases had which learnings.
const HAD_SQL: &str = "SELECT h.learning, h.issue
     FROM (SELECT issue FROM issue_case WHERE project = ?1 ORDER BY ended_at DESC, issue LIMIT ?2) c
     JOIN case_learning h ON h.issue = c.issue";

fn load_had(
    conn: &Connection,
    project: &ProjectId,
    cases: &Cases,
    cases_min: u64,
) -> Result<BTreeMap<String, Had>, StoreError> {
    let mut statement = conn.prepare_cached(HAD_SQL)?;
    let mut rows = statement.query(params![project.as_str(), CASES_MAX])?;
    let mut had: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    while let Some(row) = &rows.next()? {
        let text = |column| -> Result<&str, StoreError> {
            let value = row.get_ref(column)?;
            value.as_str().map_err(|error| StoreError::InvalidRow {
                what: "learning of a case",
                found: error.to_string(),
            })
        };
        let (learning, issue) = (text(0)?, text(1)?);
        let place = cases.places.get(issue).copied();
        match had.get_mut(learning) {
            Some(places) => places.extend(place),
            None => {
                had.insert(learning.to_owned(), place.into_iter().collect());
            }
        }
    }
    let enough =
        |places: &Vec<usize>| u64::try_from(places.len()).is_ok_and(|found| found >= cases_min);
    let mut all = BTreeMap::new();
    for (learning, places) in had.into_iter().filter(|(_, places)| enough(places)) {
        if let Some(accepted_at) = accepted_at(conn, &learning, project)? {
            let had = Had {
                accepted_at,
                places,
                sources: load_sources(conn, &learning, cases)?,
            };
            all.insert(learning, had);
        }
    }
    Ok(all)
}

/// Returns since when a learning of this project may be given to every issue.
fn accepted_at(
    conn: &Connection,
    learning: &str,
    project: &ProjectId,
) -> Result<Option<i64>, StoreError> {
    let found: Option<Option<i64>> = conn
        .prepare_cached("SELECT accepted_at FROM learning WHERE id = ?1 AND project = ?2")?
        .query_row([learning, project.as_str()], |row| row.get(0))
        .optional()?;
    Ok(found.flatten())
}

/// Returns the places of the cases that a learning comes from.
fn load_sources(
    conn: &Connection,
    learning: &str,
    cases: &Cases,
) -> Result<Vec<usize>, StoreError> {
    let mut statement = conn.prepare_cached(
        "SELECT issue FROM learning_source WHERE learning = ?1 AND issue IS NOT NULL
         UNION SELECT issue FROM learning WHERE id = ?1 AND issue IS NOT NULL",
    )?;
    let mut rows = statement.query([learning])?;
    let mut places = Vec::new();
    while let Some(row) = &rows.next()? {
        let issue: String = row.get(0)?;
        places.extend(cases.places.get(&issue));
    }
    Ok(places)
}

impl Store {
    /// Returns how useful the learnings of a project were, as far as done issues had them.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn learning_comparisons(
        &self,
        project: &ProjectId,
    ) -> Result<BTreeMap<LearningId, Comparison>, StoreError> {
        let compared = compared(&self.conn, project, 1)?.into_iter();
        compared
            .map(|(id, comparison)| Ok((parsed("learning id", id)?, comparison)))
            .collect()
    }

    /// Returns the scores for the ranking of a project's learnings, as [`symphony_learning::Ranker::with_usefulness`]
    /// takes them.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn usefulness_scores(
        &self,
        project: &ProjectId,
    ) -> Result<BTreeMap<String, f64>, StoreError> {
        scores(&self.conn, project)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::query_plan::query_plan;

    #[test]
    fn cases_are_read_through_indexes() {
        let store = Store::open_in_memory().unwrap();
        for sql in [CASES_SQL, HAD_SQL] {
            let plan = query_plan(&store.conn, sql);
            let scans = plan
                .iter()
                .filter(|line| line.starts_with("SCAN") && *line != "SCAN c");
            assert_eq!(scans.count(), 0, "{sql}: {plan:?}");
        }
    }
}
