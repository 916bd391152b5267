//! Drawing a graph as SVG, and writing it as a list.

use maud::{Markup, html};
use symphony_view::text::one_line;
use unicode_width::UnicodeWidthChar as _;

use super::super::safe::{cut_remark, visible};
use super::graph::{Graph, NODES_MAX, Node, layers, reduced};
use super::layout::{Layout, layout};

/// Width of a node.
const NODE_WIDTH: i64 = 190;
/// Height of a node.
const NODE_HEIGHT: i64 = 54;
/// From the left side of one layer to that of the next.
const LAYER_STEP: i64 = 250;
/// Space around all.
const MARGIN: i64 = 4;

/// Columns of a node's title: 13 px letters of about 7 px.
const TITLE_COLUMNS: usize = 24;
/// Columns of a node's small line.
const SMALL_COLUMNS: usize = 27;

/// Renders a graph: as a drawing, and for small screens as a list. Edges that others imply are left out of the drawing.
pub fn dag(label: &str, graph: &Graph) -> Markup {
    html! {
        div.dag {
            @if graph.nodes.len() <= NODES_MAX { div.canvas tabindex="0" { (drawing(label, graph)) } }
            (list(graph))
            @if graph.nodes.len() > NODES_MAX {
                p.cut { "A graph of more than " (NODES_MAX) " nodes is not drawn." }
            }
        }
    }
}

/// Renders a graph as a list: each node with what it waits for.
pub fn list(graph: &Graph) -> Markup {
    const NAMED_MAX: usize = 20;
    let mut sources: Vec<Vec<&Node>> = vec![Vec::new(); graph.nodes.len()];
    for (from, to) in graph.indexed() {
        if let (Some(list), Some(node)) = (sources.get_mut(to), graph.nodes.get(from)) {
            list.push(node);
        }
    }
    html! {
        ol.phases {
            @for (node, sources) in graph.nodes.iter().zip(&sources) {
                li class=(node.class) {
                    @match &node.href {
                        Some(href) => a href=(href) { (visible(&node.title)) },
                        None => span { (visible(&node.title)) },
                    }
                    " " span.s { (visible(&node.small)) }
                    @if !sources.is_empty() {
                        div.s {
                            "after "
                            @for (at, source) in sources.iter().take(NAMED_MAX).enumerate() {
                                @if at > 0 { ", " }
                                (visible(&source.title))
                            }
                            @if sources.len() > NAMED_MAX {
                                " " (cut_remark(sources.len() - NAMED_MAX, "node"))
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Draws a graph. A drawing without links is an image; one with links is a group, because screen readers do not look into
/// images.
fn drawing(label: &str, graph: &Graph) -> Markup {
    let (layer, edges) = layers(graph.nodes.len(), &graph.indexed());
    let edges = reduced(&layer, &edges);
    let layout = layout(&layer, &edges);
    let columns = whole(layout.layers);
    let width = (columns * LAYER_STEP - (LAYER_STEP - NODE_WIDTH)).max(0) + 2 * MARGIN;
    let height = pixels(layout.height).max(NODE_HEIGHT) + 2 * MARGIN;
    let has_links = graph.nodes.iter().any(|node| node.href.is_some());
    let role = if has_links { "group" } else { "img" };
    html! {
        svg role=(role) aria-label=(label) width=(width) height=(height)
            viewBox={ "0 0 " (width) " " (height) } {
            @for route in &layout.routes { path.edge d=(curve(&layout, route, graph.nodes.len())) {} }
            @for (at, node) in graph.nodes.iter().enumerate() {
                @let (x, y) = corner(&layout, at);
                @match &node.href {
                    Some(href) => a href=(href) { (shape(node, x, y)) },
                    None => g { (shape(node, x, y)) },
                }
            }
        }
    }
}

fn shape(node: &Node, x: i64, y: i64) -> Markup {
    html! {
        title { (visible(&node.title)) ": " (visible(&node.small)) }
        rect class=(node.class) x=(x) y=(y) width=(NODE_WIDTH) height=(NODE_HEIGHT) {}
        text x=(x + 12) y=(y + 23) { (fitting(&node.title, TITLE_COLUMNS)) }
        text.s x=(x + 12) y=(y + 41) { (fitting(&node.small, SMALL_COLUMNS)) }
    }
}

/// Returns the left upper corner of a node.
fn corner(layout: &Layout, at: usize) -> (i64, i64) {
    let (x, middle) = point(layout, at);
    (x, middle - NODE_HEIGHT / 2)
}

/// Returns the left end of an item, at half its height.
fn point(layout: &Layout, at: usize) -> (i64, i64) {
    let layer = layout.layer.get(at).copied().unwrap_or(0);
    let middle = layout.middle.get(at).copied().unwrap_or(0.0);
    (MARGIN + whole(layer) * LAYER_STEP, MARGIN + pixels(middle))
}

/// Writes an edge: a curve from layer to layer, straight through the layers that it passes.
fn curve(layout: &Layout, route: &[usize], nodes: usize) -> String {
    let mut steps = Vec::with_capacity(route.len() * 2);
    let mut from: Option<(i64, i64)> = None;
    for item in route {
        let (x, y) = point(layout, *item);
        if let Some((before_x, before_y)) = from {
            let middle = before_x.midpoint(x);
            steps.push(format!("C{middle} {before_y} {middle} {y} {x} {y}"));
            if *item >= nodes {
                steps.push(format!("H{}", x + NODE_WIDTH));
            }
        } else {
            steps.push(format!("M{} {y}", x + NODE_WIDTH));
        }
        from = Some((x + NODE_WIDTH, y));
    }
    steps.join(" ")
}

/// Cuts a text to a width in columns.
fn fitting(text: &str, columns: usize) -> String {
    let text = one_line(text);
    let mut used = 0;
    let mut kept = String::new();
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        let width = character.width().unwrap_or(0);
        let needed = used + width + usize::from(!rest.as_str().is_empty());
        if needed > columns {
            kept.push('…');
            break;
        }
        used += width;
        kept.push(character);
    }
    kept
}

fn whole(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX / LAYER_STEP)
}

/// Rounds a height: a few hundred nodes of 72 pixels each.
#[expect(
    clippy::cast_possible_truncation,
    reason = "heights are a few thousand pixels"
)]
fn pixels(height: f64) -> i64 {
    height.round() as i64
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::super::safe::tests::assert_harmless;
    use super::*;

    /// Returns where nodes are: as many corners as nodes, if none is on another.
    fn corners(graph: &Graph) -> BTreeSet<(i64, i64)> {
        let (layer, edges) = layers(graph.nodes.len(), &graph.indexed());
        let layout = layout(&layer, &reduced(&layer, &edges));
        (0..graph.nodes.len())
            .map(|at| corner(&layout, at))
            .collect()
    }

    fn graph(count: usize, edges: &[(usize, usize)]) -> Graph {
        let node = |at: usize| Node {
            id: format!("p{at}"),
            title: format!("Phase <{at}>"),
            small: "done".to_owned(),
            class: "fin",
            href: at.is_multiple_of(2).then(|| format!("/plans/x#p{at}")),
        };
        let edge = |(from, to): &(usize, usize)| (format!("p{from}"), format!("p{to}"));
        Graph {
            nodes: (0..count).map(node).collect(),
            edges: edges.iter().map(edge).collect(),
        }
    }

    #[test]
    fn nodes_are_linked_and_titled() {
        let found = dag("Phases of <x>", &graph(3, &[(0, 1), (1, 2)])).into_string();
        for part in [
            "<svg role=\"group\" aria-label=\"Phases of &lt;x&gt;\" width=\"698\" height=\"80\"",
            "<a href=\"/plans/x#p0\"><title>Phase &lt;0&gt;: done</title><rect class=\"fin\" x=\"4\"",
            "<path class=\"edge\" d=\"M194 40 C224 40 224 40 254 40\">",
            "<div class=\"s\">after Phase &lt;1&gt;</div>",
        ] {
            assert!(found.contains(part), "{part} in {found}");
        }
        assert_harmless(&found);
        let mut plain = graph(1, &[]);
        plain.nodes[0].href = None;
        assert!(dag("x", &plain).into_string().contains("<svg role=\"img\""));
    }

    #[test]
    fn titles_fit_their_nodes() {
        for (text, columns, expected) in [
            ("abc", 3, "abc"),
            ("abcd", 3, "ab…"),
            ("日本語", 5, "日本…"),
            ("日本語", 6, "日本語"),
            ("a\nb", 9, "a b"),
        ] {
            assert_eq!(fitting(text, columns), expected);
        }
    }

    #[test]
    fn large_graphs_are_drawn_quickly() {
        let all: Vec<_> = (0..300)
            .flat_map(|to| (0..to).map(move |from| (from, to)))
            .collect();
        let wide: Vec<_> = (0..150)
            .flat_map(|from| (150..300).map(move |to| (from, to)))
            .collect();
        for edges in [&all, &wide] {
            let graph = graph(300, edges);
            assert_eq!(corners(&graph).len(), 300);
            assert_harmless(&dag("x", &graph).into_string());
        }
        assert!(
            dag("x", &graph(501, &[]))
                .into_string()
                .contains("is not drawn")
        );
    }

    proptest::proptest! {
        #[test]
        fn nodes_never_overlap(count in 0_usize..30, edges in proptest::collection::vec((0_usize..30, 0_usize..30), 0..60)) {
            let graph = graph(count, &edges);
            assert_harmless(&dag("x", &graph).into_string());
            let corners: Vec<_> = corners(&graph).into_iter().collect();
            proptest::prop_assert_eq!(corners.len(), count);
            for (upper, lower) in corners.iter().zip(corners.iter().skip(1)) {
                proptest::prop_assert!(upper.0 != lower.0 || lower.1 - upper.1 >= NODE_HEIGHT, "{:?}", corners);
            }
        }
    }
}
