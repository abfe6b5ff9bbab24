//! What a runner left in its folder of results: which tests passed, failed and were skipped.
//!
//! Three forms are read, told apart by the ends of the files' names, at any depth: `.xml` is JUnit's (pytest, Surefire,
//! gotestsum, mocha and others write it), `.json` is what `go test -json` prints, and `.lines` has a line a test:
//! `ok NAME`, `FAIL NAME` or `skip NAME`, with what went wrong on lines after it that begin with two spaces.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::run::Failure;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    Passed,
    Skipped,
    /// With what was said of it.
    Failed(String),
}

/// Tests by name. A name that is told more than once has failed if one of them failed, and passed if one passed.
#[derive(Default, Debug)]
pub struct Results(pub BTreeMap<String, Outcome>);

impl Results {
    fn add(&mut self, name: String, outcome: Outcome) {
        let slot = self.0.entry(name).or_insert(Outcome::Skipped);
        match (&slot, &outcome) {
            (Outcome::Failed(_), _) | (_, Outcome::Skipped) => {}
            _ => *slot = outcome,
        }
    }
}

pub fn read(folder: &Path) -> Result<Results, Failure> {
    let mut results = Results::default();
    read_folder(folder, &mut results)?;
    Ok(results)
}

fn read_folder(folder: &Path, results: &mut Results) -> Result<(), Failure> {
    let failure = |path: &Path, error: &dyn std::fmt::Display| {
        Failure(format!("{}: {error}", path.display()))
    };
    for entry in fs::read_dir(folder).map_err(|error| failure(folder, &error))?.flatten() {
        let path = entry.path();
        if path.is_dir() {
            read_folder(&path, results)?;
            continue;
        }
        let reader = match path.extension().and_then(|extension| extension.to_str()) {
            Some("xml") => junit,
            Some("json") => go,
            Some("lines") => lines,
            _ => continue,
        };
        let bytes = fs::read(&path).map_err(|error| failure(&path, &error))?;
        reader(&String::from_utf8_lossy(&bytes), results);
    }
    Ok(())
}

/// JUnit's form: what matters of it is `<testcase classname= name=>` and the elements directly inside.
fn junit(text: &str, results: &mut Results) {
    let mut rest = text;
    while let Some(at) = rest.find("<testcase") {
        rest = &rest[at + "<testcase".len()..];
        if !rest.starts_with([' ', '\n', '\t', '\r']) {
            continue;
        }
        let Some(end) = end_of_tag(rest) else { return };
        let tag = &rest[..end];
        let (class, name) = (attribute(tag, "classname"), attribute(tag, "name"));
        let name = match class.filter(|class| !class.is_empty()) {
            Some(class) => format!("{class}.{}", name.unwrap_or_default()),
            None => name.unwrap_or_default(),
        };
        rest = &rest[end..];
        if tag.ends_with('/') {
            results.add(name, Outcome::Passed);
            continue;
        }
        let end = rest.find("</testcase>").unwrap_or(rest.len());
        let body = &rest[..end];
        let inside = |element: &str| body.find(&format!("<{element}")).map(|at| &body[at..]);
        let outcome = match inside("failure").or_else(|| inside("error")) {
            Some(element) => Outcome::Failed(message(element)),
            None if inside("skipped").is_some() => Outcome::Skipped,
            None => Outcome::Passed,
        };
        results.add(name, outcome);
        rest = &rest[end..];
    }
}

/// Where the `>` stands that ends a tag; one inside an attribute does not.
fn end_of_tag(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (None, '>') => return Some(at),
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
    }
    None
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let mut from = 0;
    while let Some(at) = tag[from..].find(name).map(|at| at + from) {
        from = at + name.len();
        let whole = tag[..at].ends_with(char::is_whitespace);
        let Some(value) = tag[from..].strip_prefix('=') else { continue };
        let Some(quote) = value.chars().next().filter(|c| whole && matches!(c, '"' | '\'')) else {
            continue;
        };
        return value[1..].split(quote).next().map(unescape);
    }
    None
}

/// What a failure says: its message, or the last line of its text.
fn message(element: &str) -> String {
    let Some(end) = end_of_tag(element) else { return String::new() };
    let text = element[end + 1..].split("</").next().unwrap_or("").trim();
    let text = text.trim_start_matches("<![CDATA[").trim_end_matches("]]>");
    let told = attribute(&element[..end], "message").filter(|message| !message.trim().is_empty());
    told.unwrap_or_else(|| unescape(text.lines().last().unwrap_or("")))
}

fn unescape(text: &str) -> String {
    let mut text = text.to_owned();
    for (entity, character) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&apos;", "'"),
        ("&#10;", "\n"),
        ("&#xA;", "\n"),
        ("&#x27;", "'"),
        ("&#34;", "\""),
        ("&#39;", "'"),
        ("&amp;", "&"),
    ] {
        text = text.replace(entity, character);
    }
    text
}

/// `go test -json`: an object a line; the package and the test make the name.
fn go(text: &str, results: &mut Results) {
    let mut said: BTreeMap<String, String> = BTreeMap::new();
    for line in text.lines() {
        let Ok(event) = serde_json::from_str::<serde_json::Value>(line) else { continue };
        let field = |name: &str| event.get(name).and_then(|value| value.as_str()).unwrap_or("");
        if field("Test").is_empty() {
            continue;
        }
        let name = format!("{}.{}", field("Package"), field("Test"));
        match field("Action") {
            "output" => said.entry(name).or_default().push_str(field("Output")),
            "pass" => results.add(name, Outcome::Passed),
            "skip" => results.add(name, Outcome::Skipped),
            "fail" => {
                let text = said.remove(&name).unwrap_or_default();
                let told = text.lines().filter(|line| !line.trim_start().starts_with(['=', '-']));
                let text = told.map(str::trim).collect::<Vec<_>>().join(" ");
                results.add(name, Outcome::Failed(text));
            }
            _ => {}
        }
    }
}

fn lines(text: &str, results: &mut Results) {
    let mut failed: Option<String> = None;
    for line in text.lines() {
        if let (Some(detail), Some(name)) = (line.strip_prefix("  "), &failed) {
            if let Some(Outcome::Failed(said)) = results.0.get_mut(name) {
                said.push_str(detail.trim());
                said.push(' ');
            }
            continue;
        }
        failed = None;
        match line.split_once(' ') {
            Some(("ok", name)) => results.add(name.to_owned(), Outcome::Passed),
            Some(("skip", name)) => results.add(name.to_owned(), Outcome::Skipped),
            Some(("FAIL", name)) => {
                results.add(name.to_owned(), Outcome::Failed(String::new()));
                failed = Some(name.to_owned());
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(results: &Results) -> Vec<String> {
        results.0.iter().map(|(name, outcome)| format!("{name} {outcome:?}")).collect()
    }

    #[test]
    fn junit_of_several_writers() {
        let mut results = Results::default();
        junit(
            r#"<testsuites><testsuite tests="4">
            <testcase classname="a.B" name="one[x&gt;y]" time="0.1" />
            <testcase name="two" classname="a.B"><failure message="1 &lt; 2">text</failure></testcase>
            <testcase classname="a.B" name="three"><skipped type="x" message=">"/></testcase>
            <testcase name='four'><error>first
last</error></testcase></testsuite></testsuites>"#,
            &mut results,
        );
        assert_eq!(
            told(&results),
            [
                "a.B.one[x>y] Passed",
                "a.B.three Skipped",
                "a.B.two Failed(\"1 < 2\")",
                "four Failed(\"last\")"
            ]
        );
    }

    #[test]
    fn go_and_lines() {
        let mut results = Results::default();
        go(
            "{\"Action\":\"output\",\"Package\":\"p\",\"Test\":\"T\",\"Output\":\"bad\\n\"}\nnoise\n\
             {\"Action\":\"fail\",\"Package\":\"p\",\"Test\":\"T\"}\n\
             {\"Action\":\"pass\",\"Package\":\"p\",\"Test\":\"U\"}\n{\"Action\":\"pass\",\"Package\":\"p\"}\n",
            &mut results,
        );
        lines("ok a b\nFAIL c\n  why\nskip d\nok c\n", &mut results);
        assert_eq!(
            told(&results),
            ["a b Passed", "c Failed(\"why \")", "d Skipped", "p.T Failed(\"bad\")", "p.U Passed"]
        );
    }
}
