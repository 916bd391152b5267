//! The points of a verdict, as a person types them.

use clap::{ArgGroup, Args};
use symphony_core::review_point::{
    PointChanges, PointMove, PointNumber, PointState, Severity, read_point,
};

/// What a verdict does to the review points.
#[derive(Debug, Args)]
pub(crate) struct PointArgs {
    /// A review point, `[must|should|note: ][FILE[:LINES]: ]TEXT`; repeat the option for each point
    #[arg(short, long = "point", value_name = "POINT")]
    points: Vec<String>,
    /// Close the points with these numbers
    #[arg(long, value_name = "NUMBER", value_delimiter = ',')]
    close: Vec<PointNumber>,
    /// Reopen the points with these numbers: they need another answer
    #[arg(long, value_name = "NUMBER", value_delimiter = ',')]
    reopen: Vec<PointNumber>,
}

/// Returns the options of which a rejection needs at least one: each says what the next agent has to do.
pub(crate) fn rejection() -> ArgGroup {
    ArgGroup::new("rejection")
        .args(["feedback", "points", "reopen"])
        .required(true)
        .multiple(true)
}

impl PointArgs {
    /// Returns the changes; a new point without a severity is of this one.
    pub(crate) fn changes(&self, default: Severity) -> PointChanges {
        let new = self.points.iter().map(|typed| read_point(typed, default));
        let mut moved = moves(&self.close, PointState::Closed);
        moved.extend(moves(&self.reopen, PointState::Open));
        PointChanges {
            new: new.collect(),
            moved,
        }
    }
}

/// Moves points to one state.
fn moves(numbers: &[PointNumber], to: PointState) -> Vec<PointMove> {
    let moved = numbers.iter().map(|number| PointMove {
        number: *number,
        to,
        remark: None,
    });
    moved.collect()
}
