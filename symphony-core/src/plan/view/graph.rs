//! The graph as text, for Mermaid and for Graphviz.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::closed_set::closed_set;
use crate::plan::graph::Dag;
use crate::plan::phase::Phase;
use crate::plan::state::{PhaseStatus, PlanState};

closed_set!(
    /// A form of the graph.
    GraphFormat, "graph format", {
        /// Levels and what each phase waits for.
        Text = "text",
        /// A Mermaid flowchart.
        Mermaid = "mermaid",
        /// Graphviz.
        Dot = "dot",
    }
);

/// Renders a plan's graph, with a final newline; with a state each phase shows its state. Edges that pass
/// artifacts on are marked.
///
/// `dag` is the graph of `phases`.
pub fn render_graph(
    phases: &[Phase],
    dag: &Dag,
    state: Option<&PlanState>,
    format: GraphFormat,
) -> String {
    let graph = Graph { phases, dag, state };
    match format {
        GraphFormat::Text => graph.text(),
        GraphFormat::Mermaid => graph.mermaid(),
        GraphFormat::Dot => graph.dot(),
    }
}

struct Graph<'a> {
    phases: &'a [Phase],
    dag: &'a Dag,
    state: Option<&'a PlanState>,
}

impl<'a> Graph<'a> {
    fn id(&self, at: usize) -> &'a str {
        self.phases.get(at).map_or("", |phase| phase.id.as_str())
    }

    fn title(&self, at: usize) -> String {
        let title = self.phases.get(at).map_or("", |phase| phase.title.as_str());
        title.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn status(&self, at: usize) -> Option<PhaseStatus> {
        let id = self.dag.ids().get(at)?;
        Some(self.state?.phase_status(id))
    }

    /// Edges from source to dependent, and whether artifacts pass along them, by dependent.
    fn edges(&self) -> impl Iterator<Item = (usize, usize, bool)> {
        self.dag.order().iter().flat_map(|at| {
            self.sources(*at)
                .map(|(source, passes)| (source, *at, passes))
        })
    }

    /// What a phase waits for, and whether artifacts come from there.
    fn sources(&self, at: usize) -> impl Iterator<Item = (usize, bool)> {
        let passing: BTreeSet<usize> = self.dag.artifact_sources(at).iter().copied().collect();
        let sources = self.dag.sources(at).iter();
        sources.map(move |source| (*source, passing.contains(source)))
    }

    // writing to a String cannot fail: the results of `write!` below carry nothing

    fn text(&self) -> String {
        let mut out = String::new();
        let mut shown = None;
        for at in self.dag.order() {
            let level = self.dag.level_numbers().get(*at).copied();
            if level != shown {
                shown = level;
                let _ = writeln!(out, "Level {}", level.unwrap_or(0) + 1);
            }
            let _ = write!(out, "  {}", self.id(*at));
            if let Some(status) = self.status(*at) {
                let _ = write!(out, " [{status}]");
            }
            let _ = write!(out, ": {}", self.title(*at));
            for (nth, (source, passes)) in self.sources(*at).enumerate() {
                let lead = if nth == 0 { " <- " } else { ", " };
                let mark = if passes { " (artifacts)" } else { "" };
                let _ = write!(out, "{lead}{}{mark}", self.id(source));
            }
            out.push('\n');
        }
        out
    }

    fn mermaid(&self) -> String {
        let mut out = "flowchart TD\n".to_owned();
        for at in self.dag.order() {
            // nodes are named by position: ids such as `end` are words of Mermaid
            let title = escaped_mermaid(&self.title(*at));
            let _ = write!(out, "    p{at}[\"{}<br/>{title}\"]", self.id(*at));
            if let Some(status) = self.status(*at) {
                let _ = write!(out, ":::{status}");
            }
            out.push('\n');
        }
        for (from, to, passes) in self.edges() {
            let arrow = if passes { "-->|artifacts|" } else { "-->" };
            let _ = writeln!(out, "    p{from} {arrow} p{to}");
        }
        if self.state.is_some() {
            for status in PhaseStatus::ALL {
                let _ = writeln!(out, "    classDef {status} fill:{}", fill(*status));
            }
        }
        out
    }

    fn dot(&self) -> String {
        let mut out = "digraph plan {\n    node [shape=box];\n".to_owned();
        for at in self.dag.order() {
            let title = escaped_dot(&self.title(*at));
            let _ = write!(out, "    \"{0}\" [label=\"{0}\\n{title}\"", self.id(*at));
            if let Some(status) = self.status(*at) {
                let _ = write!(
                    out,
                    ", tooltip=\"{status}\", style=filled, fillcolor=\"{}\"",
                    fill(status)
                );
            }
            out.push_str("];\n");
        }
        for (from, to, passes) in self.edges() {
            let label = if passes { " [label=\"artifacts\"]" } else { "" };
            let _ = writeln!(
                out,
                "    \"{}\" -> \"{}\"{label};",
                self.id(from),
                self.id(to)
            );
        }
        out.push_str("}\n");
        out
    }
}

/// Escapes a text for a quoted label of Graphviz, which reads HTML entities in it.
fn escaped_dot(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '&' => out.push_str("&amp;"),
            _ => out.push(c),
        }
    }
    out
}

/// Escapes a text for a quoted label of Mermaid, which reads HTML, `\n`, backquotes and `$$` of formulas in it.
fn escaped_mermaid(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("#quot;"),
            '<' => out.push_str("#lt;"),
            '>' => out.push_str("#gt;"),
            '#' => out.push_str("#35;"),
            '&' => out.push_str("#amp;"),
            '`' => out.push_str("#96;"),
            '$' => out.push_str("#36;"),
            '\\' => out.push_str("#92;"),
            _ => out.push(c),
        }
    }
    out
}

const fn fill(status: PhaseStatus) -> &'static str {
    match status {
        PhaseStatus::Pending => "#eeeeee",
        PhaseStatus::Ready => "#d7e8ff",
        PhaseStatus::Running => "#fff3bf",
        PhaseStatus::Retrying => "#ffe0b2",
        PhaseStatus::AwaitingDecision => "#f3d1f4",
        PhaseStatus::Complete => "#c8f0cf",
        PhaseStatus::Failed => "#f8c9c9",
        PhaseStatus::Blocked => "#d9c7c7",
        PhaseStatus::Aborted => "#cfcfcf",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_what_they_are_whatever_they_hold() {
        for (title, dot, mermaid) in [
            ("plain \u{d55c}", "plain \u{d55c}", "plain \u{d55c}"),
            (r#"a "b""#, r#"a \"b\""#, "a #quot;b#quot;"),
            (r"c:\new", r"c:\\new", "c:#92;new"),
            ("x &amp; <b>", "x &amp;amp; <b>", "x #amp;amp; #lt;b#gt;"),
            (
                "`#1` $$x$$",
                "`#1` $$x$$",
                "#96;#35;1#96; #36;#36;x#36;#36;",
            ),
        ] {
            assert_eq!(escaped_dot(title), dot);
            assert_eq!(escaped_mermaid(title), mermaid);
        }
    }
}
