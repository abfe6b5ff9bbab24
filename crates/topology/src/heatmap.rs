//! The measured matrices as a picture: one SVG file with a heat map each, that loads nothing.
//!
//! A cell is the darker the dearer it is: the longer a line or a read takes, the fewer bytes come. Colours run from the
//! best figure of a matrix to its worst, each with its own scale, which stands below it. A cell's figure is written into it
//! where it fits, and is always its title, with the deciles. What was not measured is left empty.
//!
//! Invariant: texts that are not this file's own are written escaped.

use crate::measure::{Line, Memory, Spread};
use std::fmt::Write;

/// From cheap to dear, as the lab's reports have them.
const COLOURS: [[u8; 3]; 4] =
    [[0xbc, 0xd4, 0xea], [0x5f, 0x9a, 0xd0], [0x0b, 0x5c, 0xad], [0x06, 0x2c, 0x55]];
const INK: &str = "#1d2327";
/// Of up to so many rows a cell has its figure written into it.
const WRITTEN_MAX: usize = 24;
const MARGIN: usize = 56;
/// Of the title above a matrix, and of the scale below it.
const ABOVE: usize = 64;
const BELOW: usize = 56;

/// One matrix: rows from, columns to, both by these ids.
struct Matrix {
    title: String,
    unit: &'static str,
    decimals: usize,
    /// Whether a large figure is a good one.
    more_is_better: bool,
    ids: Vec<usize>,
    cells: Vec<(usize, usize, Spread)>,
}

/// All that was measured on a machine, one matrix below the other.
pub fn svg(machine: &str, lines: &[Line], memory: &[Memory]) -> String {
    let of_lines = lines.iter().map(|line| (line.from, line.to, line.ns)).collect();
    let latency = memory.iter().map(|of| (of.from, of.to, of.latency_ns)).collect();
    let bandwidth = memory.iter().map(|of| (of.from, of.to, of.gib_per_s)).collect();
    let title = |what: &str| format!("{what} ({machine})");
    let all = [
        Matrix::of(title("A cache line from CPU to CPU"), "ns", 0, of_lines),
        Matrix::of(title("Memory from a node's CPU to a node: latency"), "ns", 1, latency),
        Matrix {
            more_is_better: true,
            ..Matrix::of(
                title("Memory from a node's CPU to a node: bandwidth"),
                "GiB/s",
                2,
                bandwidth,
            )
        },
    ];
    let width = all.iter().map(Matrix::width).max().unwrap_or(0);
    let height: usize = all.iter().map(Matrix::height).sum();
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"system-ui, sans-serif\" font-size=\"12\" fill=\"{INK}\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fdfdfc\"/>\n"
    );
    let mut top = 0;
    for matrix in &all {
        matrix.draw(&mut out, top);
        top += matrix.height();
    }
    out.push_str("</svg>\n");
    out
}

impl Matrix {
    fn of(
        title: String,
        unit: &'static str,
        decimals: usize,
        cells: Vec<(usize, usize, Spread)>,
    ) -> Matrix {
        let mut ids: Vec<usize> = cells.iter().flat_map(|(from, to, _)| [*from, *to]).collect();
        ids.sort_unstable();
        ids.dedup();
        Matrix { title, unit, decimals, more_is_better: false, ids, cells }
    }

    /// Of a cell's side: room for a figure where there are few, and a point for each of a thousand CPUs.
    fn side(&self) -> usize {
        match self.ids.len() {
            0..=WRITTEN_MAX => 44,
            n => (1_000 / n).clamp(2, 20),
        }
    }

    fn is_written(&self) -> bool {
        self.ids.len() <= WRITTEN_MAX
    }

    fn width(&self) -> usize {
        (2 * MARGIN + self.side() * self.ids.len()).max(640)
    }

    fn height(&self) -> usize {
        ABOVE + self.side() * self.ids.len().max(1) + BELOW
    }

    /// The medians, from the least to the greatest.
    fn range(&self) -> (f64, f64) {
        self.cells.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (_, _, of)| {
            (low.min(of.p50), high.max(of.p50))
        })
    }

    /// 0 of the best figure of the range, 1 of the worst; 0 where all are the same.
    fn dearness(&self, (low, high): (f64, f64), figure: f64) -> f64 {
        if high <= low {
            return 0.0;
        }
        let share = ((figure - low) / (high - low)).clamp(0.0, 1.0);
        if self.more_is_better { 1.0 - share } else { share }
    }

    fn draw(&self, out: &mut String, top: usize) {
        let (side, unit, decimals) = (self.side(), self.unit, self.decimals);
        let title = escape(&self.title);
        let _ = writeln!(
            out,
            "<text x=\"{MARGIN}\" y=\"{}\" font-size=\"14\" font-weight=\"600\">{title}</text>",
            top + 22
        );
        let Some(last) = self.ids.len().checked_sub(1) else {
            let y = top + ABOVE;
            let _ = writeln!(out, "<text x=\"{MARGIN}\" y=\"{y}\">nothing to measure</text>");
            return;
        };
        let (left, first_row) = (MARGIN, top + ABOVE);
        // Of many ids every fourth or so is named.
        let step = (16 / side).max(1);
        for (at, id) in self.ids.iter().enumerate().filter(|(at, _)| at % step == 0) {
            let middle = at * side + side / 2;
            let _ = writeln!(
                out,
                "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{id}</text>\
                 <text x=\"{}\" y=\"{}\" text-anchor=\"end\">{id}</text>",
                left + middle,
                first_row - 6,
                left - 8,
                first_row + middle + 4
            );
        }
        let range = self.range();
        for (from, to, of) in &self.cells {
            let place = |id: &usize| self.ids.binary_search(id).unwrap_or(last) * side;
            let (x, y) = (left + place(to), first_row + place(from));
            let dearness = self.dearness(range, of.p50);
            let _ = write!(
                out,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{side}\" height=\"{side}\" fill=\"{}\">\
                 <title>{from} to {to}: {:.decimals$} {unit} ({:.decimals$} to {:.decimals$})</title></rect>",
                colour(dearness),
                of.p50,
                of.p10,
                of.p90
            );
            if self.is_written() {
                let ink = if dearness > 0.4 { "#ffffff" } else { INK };
                let _ = write!(
                    out,
                    "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"{ink}\" pointer-events=\"none\">{:.decimals$}</text>",
                    x + side / 2,
                    y + side / 2 + 4,
                    of.p50
                );
            }
            out.push('\n');
        }
        self.draw_scale(out, first_row + side * self.ids.len() + 16);
    }

    /// Best to worst, with both figures.
    fn draw_scale(&self, out: &mut String, y: usize) {
        const STEPS: usize = 32;
        for step in 0..STEPS {
            let of = colour(step as f64 / (STEPS - 1) as f64);
            let x = MARGIN + step * 5;
            let _ =
                write!(out, "<rect x=\"{x}\" y=\"{y}\" width=\"5\" height=\"10\" fill=\"{of}\"/>");
        }
        let (low, high) = self.range();
        let (best, worst) = if self.more_is_better { (high, low) } else { (low, high) };
        let (unit, decimals) = (self.unit, self.decimals);
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{}\">{best:.decimals$} to {worst:.decimals$} {unit}, medians; rows: from, columns: to</text>",
            MARGIN + STEPS * 5 + 10,
            y + 9
        );
    }
}

/// Between the colours, by the share of the way from the first to the last.
fn colour(share: f64) -> String {
    let place = share.clamp(0.0, 1.0) * (COLOURS.len() - 1) as f64;
    let at = (place as usize).min(COLOURS.len() - 2);
    let part = place - at as f64;
    let mix = |i: usize| {
        let (from, to) = (f64::from(COLOURS[at][i]), f64::from(COLOURS[at + 1][i]));
        (from + (to - from) * part).round() as u8
    };
    format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(p50: f64) -> Spread {
        Spread { p10: p50 - 1.0, p50, p90: p50 + 2.0 }
    }

    fn lines(cpus: usize) -> Vec<Line> {
        let pairs = (0..cpus).flat_map(|from| (0..cpus).map(move |to| (from, to)));
        let line = |(from, to): (usize, usize)| Line {
            from,
            to,
            home: from,
            ns: spread(if from / 2 == to / 2 { 40.0 } else { 120.0 }),
        };
        pairs.filter(|(from, to)| from != to).map(line).collect()
    }

    fn memory() -> Vec<Memory> {
        let of = |(from, to): (usize, usize)| Memory {
            from,
            to,
            latency_ns: spread(if from == to { 80.0 } else { 130.0 }),
            gib_per_s: spread(if from == to { 12.0 } else { 7.0 }),
        };
        [(0, 0), (0, 3), (3, 0), (3, 3)].map(of).into()
    }

    /// How often a rectangle with a title has this colour.
    fn cells_of(svg: &str, share: f64) -> usize {
        svg.matches(&format!("fill=\"{}\"><title>", colour(share))).count()
    }

    #[test]
    fn every_figure_has_a_cell_and_the_dearest_is_the_darkest() {
        let svg = svg("a <new> & old one", &lines(4), &memory());
        assert_eq!(svg.matches("<title>").count(), 12 + 4 + 4);
        // Of lines 4 of 12 are near; of both others 2 of 4, and more bytes are the better ones.
        assert_eq!((cells_of(&svg, 0.0), cells_of(&svg, 1.0)), (4 + 2 + 2, 8 + 2 + 2));
        assert!(svg.contains("<title>0 to 1: 40 ns (39 to 42)</title>"), "{svg}");
        assert!(svg.contains("<title>3 to 0: 7.00 GiB/s (6.00 to 9.00)</title>"), "{svg}");
        assert!(svg.contains("12.00 to 7.00 GiB/s") && svg.contains("40 to 120 ns"), "{svg}");
        assert!(svg.contains("a &lt;new&gt; &amp; old one") && !svg.contains("<new>"));
        // What is opened is closed, and nothing is loaded.
        for (open, close) in [("<svg ", "</svg>"), ("<text ", "</text>"), ("<title>", "</title>")] {
            assert_eq!(svg.matches(open).count(), svg.matches(close).count(), "{open}");
        }
        assert!(!svg.contains("href") && !svg.contains("<script"));
    }

    #[test]
    fn rows_are_from_and_columns_are_to() {
        let one = [Line { from: 1, to: 0, home: 1, ns: spread(9.0) }];
        let svg = svg("", &one, &[]);
        let place = format!("x=\"{MARGIN}\" y=\"{}\" width=\"44\"", ABOVE + 44);
        assert!(svg.contains(&place), "{svg}");
    }

    #[test]
    fn many_cpus_and_one_are_drawn_too() {
        let many = svg("", &lines(40), &[]);
        assert_eq!(many.matches("<title>").count(), 40 * 39);
        assert!(!many.contains("fill=\"#ffffff\""), "no figures are written into small cells");
        // A machine of one CPU has no line to measure.
        assert_eq!(svg("", &[], &memory()).matches("nothing to measure").count(), 1);
        let same = svg("", &[], &memory()[..1]);
        assert_eq!(cells_of(&same, 0.0), 2);
    }
}
