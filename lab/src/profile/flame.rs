//! Folded stacks as a picture: one SVG, without script, that scales with its page.
//!
//! Widths are shares of samples, order is by name, colour is by what a function belongs to. Frames too narrow to see
//! are left out. Names are escaped: they may hold anything.

use super::fold::Folded;
use std::collections::BTreeMap;
use std::fmt::Write;

/// What is at the edge where the drawing begins.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Threads' beginnings below, callees above: a flame graph.
    FromRoot,
    /// The running function above, its callers below: an inverted graph.
    FromLeaf,
}

const WIDTH: f64 = 1_200.0;
const ROW: f64 = 18.0;
/// Frames narrower than this are not drawn.
const NARROWEST: f64 = 1.2;
/// A character of the font, and the least room for a name.
const CHAR: f64 = 6.6;
const LEAST_CHARS: usize = 3;
const DEEPEST: usize = 100;

#[derive(Default)]
struct Node {
    count: u64,
    below: BTreeMap<String, Node>,
}

impl Node {
    fn add<'a>(&mut self, frames: impl Iterator<Item = &'a String>, n: u64) {
        let mut node = self;
        for frame in frames {
            node = node.below.entry(frame.clone()).or_default();
            node.count += n;
        }
    }
}

/// Draws the samples; an empty text when there are none.
pub(super) fn draw(folded: &Folded, way: Way) -> String {
    let mut root = Node::default();
    for (frames, n) in folded {
        root.count += n;
        match way {
            Way::FromRoot => root.add(frames.iter().take(DEEPEST), *n),
            Way::FromLeaf => root.add(frames.iter().rev().take(DEEPEST), *n),
        }
    }
    if root.count == 0 {
        return String::new();
    }
    let mut rects = Vec::new();
    place(&root, 0, 0.0, WIDTH / root.count as f64, &mut rects);
    let rows = rects.iter().map(|r| r.depth + 1).max().unwrap_or(1);
    let height = rows as f64 * ROW;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"100%\" \
         font-family=\"ui-monospace,monospace\" font-size=\"11\" role=\"img\">"
    );
    for rect in rects {
        let y = match way {
            Way::FromRoot => height - (rect.depth + 1) as f64 * ROW,
            Way::FromLeaf => rect.depth as f64 * ROW,
        };
        let share = 100.0 * rect.count as f64 / root.count as f64;
        let name = escaped(rect.name);
        let _ = write!(
            out,
            "<g><title>{name}: {} samples, {share:.2}%</title><rect x=\"{:.2}\" y=\"{y}\" width=\"{:.2}\" \
             height=\"{}\" rx=\"1\" fill=\"{}\"/>",
            rect.count,
            rect.x,
            rect.width,
            ROW - 1.0,
            colour(rect.name)
        );
        let room = ((rect.width - 4.0) / CHAR) as usize;
        if room >= LEAST_CHARS {
            let label = escaped(&short(rect.name, room));
            let _ = write!(
                out,
                "<text x=\"{:.2}\" y=\"{}\" fill=\"#1b1b1b\">{label}</text>",
                rect.x + 2.0,
                y + 12.5
            );
        }
        out.push_str("</g>");
    }
    out.push_str("</svg>");
    out
}

struct Rect<'a> {
    name: &'a str,
    count: u64,
    depth: usize,
    x: f64,
    width: f64,
}

fn place<'a>(node: &'a Node, depth: usize, x: f64, scale: f64, rects: &mut Vec<Rect<'a>>) {
    let mut x = x;
    for (name, child) in &node.below {
        let width = child.count as f64 * scale;
        if width >= NARROWEST {
            rects.push(Rect { name, count: child.count, depth, x, width });
            place(child, depth + 1, x, scale, rects);
        }
        x += width;
    }
}

/// The last segments of a path that fit; a type's parameters first go.
fn short(name: &str, room: usize) -> String {
    let mut plain = String::new();
    let mut depth = 0;
    for c in name.trim_start_matches('<').chars() {
        match c {
            '<' => depth += 1,
            '>' => depth = (depth - 1).max(0),
            c if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    let mut rest = plain.as_str();
    while rest.chars().count() > room {
        match rest.split_once("::") {
            Some((_, tail)) => rest = tail,
            None => return rest.chars().take(room - 1).chain("…".chars()).collect(),
        }
    }
    rest.to_owned()
}

/// By what a function belongs to: spinning, the log, storage, the language, the kernel, the rest.
fn colour(name: &str) -> &'static str {
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    match () {
        () if has(&["lock_contended", "ackoff"]) => "#e2706a",
        () if has(&["[k]", "[kernel]"]) => "#b9bdc4",
        () if has(&["log_manager"]) => "#7aa6d8",
        () if has(&["storage::", "buffer_pool", "device::"]) => "#8cc3a1",
        () if has(&["transaction", "lock_manager", "mvcc", "engine::"]) => "#c9a7d8",
        () if has(&["interpreter", "executor", "session", "planner", "binder", "syntax"]) => {
            "#e8c27a"
        }
        () if has(&["scheduler", "runtime", "corosensei"]) => "#a9c7cf",
        () => "#d9cfc1",
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded() -> Folded {
        let stack = |text: &str, n| (text.split(';').map(str::to_owned).collect(), n);
        vec![
            stack("main;a;work", 60),
            stack("main;b;work", 30),
            stack("main;</script><b>\"x\"", 10),
            stack("main;narrow", 0),
        ]
    }

    #[test]
    fn widths_are_shares() {
        let svg = draw(&folded(), Way::FromRoot);
        assert!(svg.contains("a: 60 samples, 60.00%"), "{svg}");
        assert!(svg.contains("width=\"720.00\"") && !svg.contains("narrow"), "{svg}");
    }

    #[test]
    fn the_inverted_graph_merges_by_leaf() {
        let svg = draw(&folded(), Way::FromLeaf);
        assert!(svg.contains("work: 90 samples, 90.00%"), "{svg}");
        assert!(!draw(&folded(), Way::FromRoot).contains("work: 90 samples"));
    }

    #[test]
    fn names_cannot_break_the_page() {
        let svg = draw(&folded(), Way::FromRoot);
        assert!(!svg.contains("</script>") && svg.contains("&lt;/script&gt;"), "{svg}");
        assert_eq!(draw(&Vec::new(), Way::FromRoot), "");
    }

    #[test]
    fn a_name_is_cut_from_the_front() {
        assert_eq!(short("storage::tree::insert::leaf", 12), "insert::leaf");
        assert_eq!(short("<a::B<c::D> as e::F>::g", 40), "a::B as e::F::g");
        assert_eq!(short("abcdefghij", 5), "abcd…");
    }
}
