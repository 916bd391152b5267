//! Output of programs with terminal colours as HTML with a fixed set of classes.
//!
//! Colours become `f0` to `f15` (text) and `b0` to `b15` (background), attributes `bold`, `dim`, `italic`, `underline`
//! and `strike`. Every other sequence is dropped. Text that a program hides stays visible.

use maud::{Markup, PreEscaped, html};
use vte::{Params, Parser, Perform};

use super::safe::{beginning, cut_remark, visible};

/// Most characters of a line that are shown: real output that is longer is minified or binary.
pub const LINE_CHARS_MAX: usize = 10_000;

/// Most bytes of a text that are rendered: pages ask for longer logs in parts.
pub const ANSI_BYTES_MAX: usize = 1024 * 1024;

/// How wide a tab is.
const TAB_COLUMNS: usize = 8;

/// Renders output as it looks on a terminal that is wide enough.
///
/// A carriage return writes over what is on the line. Each line is read by its own parser, so that a sequence without an
/// end hides nothing of the lines after it; colours go on.
pub fn ansi(text: &str) -> Markup {
    let (kept, left_out) = beginning(text, ANSI_BYTES_MAX);
    let mut out = String::with_capacity(kept.len() + kept.len() / 4);
    let mut pen = Pen::default();
    for (number, line) in kept.split('\n').enumerate() {
        if number > 0 {
            out.push('\n');
        }
        pen = write_line(&mut out, line, pen);
    }
    if left_out > 0 {
        out.push('\n');
        out.push_str(&cut_remark(left_out, "byte").into_string());
    }
    PreEscaped(out)
}

/// Returns output without colours and other sequences, for places that show plain text.
pub fn plain(text: &str) -> String {
    let lines = text.split('\n').map(|line| {
        let mut screen = Line::default();
        Parser::new().advance(&mut screen, line.as_bytes());
        screen
            .cells
            .iter()
            .map(|(character, _)| *character)
            .collect()
    });
    lines.collect::<Vec<String>>().join("\n")
}

fn write_line(out: &mut String, line: &str, pen: Pen) -> Pen {
    let mut screen = Line {
        pen,
        ..Line::default()
    };
    Parser::new().advance(&mut screen, line.as_bytes());
    for run in screen.cells.chunk_by(|left, right| left.1 == right.1) {
        let text: String = run.iter().map(|(character, _)| *character).collect();
        let classes = run
            .first()
            .map_or_else(String::new, |(_, pen)| pen.classes());
        let text = visible(&text);
        let markup = if classes.is_empty() {
            html! { (text) }
        } else {
            html! { span class=(classes) { (text) } }
        };
        out.push_str(&markup.into_string());
    }
    if screen.left_out > 0 {
        out.push_str(&cut_remark(screen.left_out, "character").into_string());
    }
    screen.pen
}

/// What the characters that follow look like.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "attributes of a terminal are independent of each other"
)]
struct Pen {
    front: Option<u8>,
    back: Option<u8>,
    bold: bool,
    dim: bool,
    italic: bool,
    underline: bool,
    inverse: bool,
    strike: bool,
}

impl Pen {
    fn classes(self) -> String {
        let (front, back) = if self.inverse {
            (Some(self.back.unwrap_or(0)), Some(self.front.unwrap_or(7)))
        } else {
            (self.front, self.back)
        };
        // text in the colour of its background would be hidden
        let back = back.filter(|back| front != Some(*back));
        let colours = [('f', front), ('b', back)];
        let colours = colours
            .iter()
            .filter_map(|(letter, colour)| Some(format!("{letter}{}", (*colour)?)));
        let attributes = [
            (self.bold, "bold"),
            (self.dim, "dim"),
            (self.italic, "italic"),
            (self.underline, "underline"),
            (self.strike, "strike"),
        ];
        let attributes = attributes.iter().filter(|(is_on, _)| *is_on);
        let words = colours.chain(attributes.map(|(_, name)| (*name).to_owned()));
        words.collect::<Vec<_>>().join(" ")
    }

    /// Applies a sequence that selects how text looks ("SGR").
    fn select(&mut self, params: &Params) {
        let mut codes = params.iter();
        while let Some(code) = codes.next() {
            let first = code.first().copied().unwrap_or(0);
            match first {
                38 | 48 => {
                    let colour = if code.len() > 1 {
                        colour_of(code.get(1..).unwrap_or_default())
                    } else {
                        colour_from(&mut codes)
                    };
                    match first {
                        38 => self.front = colour.or(self.front),
                        _ => self.back = colour.or(self.back),
                    }
                }
                _ => self.select_simple(first),
            }
        }
    }

    fn select_simple(&mut self, code: u16) {
        let digit = |from: u16, first: u8| u8::try_from(code - from).ok().map(|n| n + first);
        match code {
            0 => *self = Self::default(),
            1 => self.bold = true,
            2 => self.dim = true,
            3 => self.italic = true,
            4 | 21 => self.underline = true,
            7 => self.inverse = true,
            9 => self.strike = true,
            22 => (self.bold, self.dim) = (false, false),
            23 => self.italic = false,
            24 => self.underline = false,
            27 => self.inverse = false,
            29 => self.strike = false,
            30..=37 => self.front = digit(30, 0),
            39 => self.front = None,
            40..=47 => self.back = digit(40, 0),
            49 => self.back = None,
            90..=97 => self.front = digit(90, 8),
            100..=107 => self.back = digit(100, 8),
            _ => {}
        }
    }
}

/// Reads a colour in the form `38:5:N` or `38:2:R:G:B`, also with the id of a colour space before R.
fn colour_of(parts: &[u16]) -> Option<u8> {
    match parts {
        [5, number, ..] => of_256(*number),
        [2, _, red, green, blue, ..] | [2, red, green, blue] => nearest(*red, *green, *blue),
        _ => None,
    }
}

/// Reads a colour in the form `38;5;N` or `38;2;R;G;B`.
fn colour_from<'a>(codes: &mut impl Iterator<Item = &'a [u16]>) -> Option<u8> {
    let mut next = || codes.next()?.first().copied();
    match next()? {
        5 => of_256(next()?),
        2 => nearest(next()?, next()?, next()?),
        _ => None,
    }
}

/// Maps a colour of the palette of 256 to one of 16.
fn of_256(number: u16) -> Option<u8> {
    const STEPS: [u16; 6] = [0, 95, 135, 175, 215, 255];
    let number = number.min(255);
    let step = |at: u16| STEPS.get(usize::from(at % 6)).copied().unwrap_or(0);
    match number {
        0..16 => u8::try_from(number).ok(),
        16..232 => {
            let cube = number - 16;
            nearest(step(cube / 36), step(cube / 6), step(cube))
        }
        _ => {
            let grey = 8 + 10 * (number - 232);
            nearest(grey, grey, grey)
        }
    }
}

/// The palette of xterm.
const PALETTE: [(u16, u16, u16); 16] = [
    (0, 0, 0),
    (205, 0, 0),
    (0, 205, 0),
    (205, 205, 0),
    (0, 0, 238),
    (205, 0, 205),
    (0, 205, 205),
    (229, 229, 229),
    (127, 127, 127),
    (255, 0, 0),
    (0, 255, 0),
    (255, 255, 0),
    (92, 92, 255),
    (255, 0, 255),
    (0, 255, 255),
    (255, 255, 255),
];

fn nearest(red: u16, green: u16, blue: u16) -> Option<u8> {
    let square = |a: u16, b: u16| u32::from(a.min(255).abs_diff(b)).pow(2);
    let (colour, _) = (0..)
        .zip(PALETTE)
        .min_by_key(|(_, (r, g, b))| square(red, *r) + square(green, *g) + square(blue, *b))?;
    Some(colour)
}

/// One line of a terminal.
#[derive(Debug, Default)]
struct Line {
    cells: Vec<(char, Pen)>,
    column: usize,
    left_out: usize,
    pen: Pen,
}

impl Perform for Line {
    fn print(&mut self, character: char) {
        let cell = (character, self.pen);
        if let Some(place) = self.cells.get_mut(self.column) {
            *place = cell;
        } else if self.cells.len() < LINE_CHARS_MAX {
            self.cells.push(cell);
        } else {
            self.left_out += 1;
            return;
        }
        self.column += 1;
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\r' => self.column = 0,
            0x08 => self.column = self.column.saturating_sub(1),
            b'\t' => {
                for _ in 0..TAB_COLUMNS - self.column % TAB_COLUMNS {
                    self.print(' ');
                }
            }
            _ => {}
        }
    }

    fn csi_dispatch(
        &mut self,
        params: &Params,
        intermediates: &[u8],
        _ignored: bool,
        action: char,
    ) {
        let first = params.iter().next().and_then(|code| code.first().copied());
        match (intermediates, action, first.unwrap_or(0)) {
            ([], 'm', _) => self.pen.select(params),
            // progress bars erase the rest of the line after they wrote over it
            ([], 'K', 0) => self.cells.truncate(self.column),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::safe::tests::assert_harmless;
    use super::*;

    #[test]
    fn colours_become_classes() {
        for (text, expected) in [
            ("a\u{1b}[31mb\u{1b}[0mc", "a<span class=\"f1\">b</span>c"),
            (
                "\u{1b}[1;4;92mb",
                "<span class=\"f10 bold underline\">b</span>",
            ),
            ("\u{1b}[38;5;196mb", "<span class=\"f9\">b</span>"),
            ("\u{1b}[38;2;0;200;0mb", "<span class=\"f2\">b</span>"),
            ("\u{1b}[38:2::0:0:230mb", "<span class=\"f4\">b</span>"),
            ("\u{1b}[48;5;244mb", "<span class=\"b8\">b</span>"),
            ("\u{1b}[38;5mb", "b"),
            ("\u{1b}[7mb", "<span class=\"f0 b7\">b</span>"),
            // colours go on in the next line
            (
                "\u{1b}[33ma\nb\u{1b}[39mc",
                "<span class=\"f3\">a</span>\n<span class=\"f3\">b</span>c",
            ),
            (
                "\u{1b}[1;2;3ma\u{1b}[22;23mb",
                "<span class=\"bold dim italic\">a</span>b",
            ),
        ] {
            assert_eq!(ansi(text).into_string(), expected, "{text:?}");
        }
    }

    #[test]
    fn other_sequences_are_dropped() {
        for (text, expected) in [
            ("a\u{1b}]0;title\u{7}b", "ab"),
            ("a\u{1b}]8;;javascript:x\u{1b}\\b\u{1b}]8;;\u{1b}\\c", "abc"),
            ("a\u{1b}[2Jb\u{1b}[5;5Hc", "abc"),
            ("a\u{1b}P1;2qxx\u{1b}\\b", "ab"),
            // a sequence without an end hides the rest of its line only
            ("a\u{1b}]0;b\nc", "a\nc"),
            ("<b>&\"", "&lt;b&gt;&amp;&quot;"),
            ("a\u{202e}b", "a\u{fffd}b"),
        ] {
            assert_eq!(ansi(text).into_string(), expected, "{text:?}");
        }
    }

    #[test]
    fn hidden_text_stays_visible() {
        assert_eq!(ansi("\u{1b}[8ma").into_string(), "a");
        assert_eq!(
            ansi("\u{1b}[30;40ma").into_string(),
            "<span class=\"f0\">a</span>"
        );
    }

    #[test]
    fn a_carriage_return_writes_over_the_line() {
        for (text, expected) in [
            ("50 %\r100 %\n", "100 %\n"),
            ("long\rab", "abng"),
            ("long\r\u{1b}[Kab", "ab"),
            ("a\r\nb", "a\nb"),
            ("ab\u{8}c", "ac"),
            ("a\tb", "a       b"),
        ] {
            assert_eq!(ansi(text).into_string(), expected, "{text:?}");
            assert_eq!(plain(text), expected, "{text:?}");
        }
    }

    #[test]
    fn long_lines_and_texts_are_cut_with_a_remark() {
        let found = ansi(&"a".repeat(LINE_CHARS_MAX + 3)).into_string();
        assert!(found.ends_with("<span class=\"cut\">… 3 more characters not shown</span>"));
        let found = ansi(&"a\n".repeat(ANSI_BYTES_MAX)).into_string();
        assert!(found.ends_with("… 1048576 more bytes not shown</span>"));
    }

    proptest::proptest! {
        #[test]
        fn any_output_is_harmless(text in "(\\PC|\u{1b}\\[[0-9;:]{0,12}[mKJ]|\u{1b}[\\]P]|[\r\n\t\u{8}\u{7}\u{9b}<>&\"]){0,60}") {
            let found = ansi(&text).into_string();
            assert_harmless(&found);
            let escape = char::from(27);
            proptest::prop_assert!(!found.contains(escape));
        }
    }
}
