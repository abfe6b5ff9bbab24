//! Scripts as the tools of SQL Server read them: found in a folder, decoded, SQLCMD's directives carried out, cut at GO.
//!
//! Invariants: files come in the order of their paths; a variable that nobody has set stands for the text of its own
//! name; `:r` is followed relative to the file that says it, then to the folder of the first one, ten deep at most.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// How deep `:r` may nest.
const INCLUDES_MAX: usize = 10;

/// All files under `root` (or `root` itself) with one of these extensions and none of these words in their path below
/// `root`, sorted.
pub fn find(root: &Path, extensions: &[&str], exclude: &[String]) -> io::Result<Vec<PathBuf>> {
    if root.is_file() {
        return Ok(vec![root.to_owned()]);
    }
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
                continue;
            }
            let below = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
            let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
            if extensions.iter().any(|wanted| extension.eq_ignore_ascii_case(wanted))
                && !exclude.iter().any(|word| below.contains(word.as_str()))
            {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The text of a file: UTF-16 and UTF-8 by their marks, else UTF-8, else Windows-1252.
pub fn decode(bytes: &[u8]) -> String {
    let wide = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect();
        String::from_utf16_lossy(&units)
    };
    match bytes {
        [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => wide(rest, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        // Without a mark, but every other byte of the beginning is zero.
        [first, 0, second, 0, ..] if *first != 0 && *second != 0 => wide(bytes, u16::from_le_bytes),
        _ => match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => bytes.iter().map(|byte| types::collation::from_cp1252(*byte)).collect(),
        },
    }
}

/// A script after SQLCMD's directives: `:r` and `:setvar` carried out, the other directives gone, `$(name)` replaced.
pub struct Script {
    /// What is left, to be cut at GO.
    pub text: String,
}

/// Reads a file and carries out its directives.
pub fn read(path: &Path, variables: &BTreeMap<String, String>) -> io::Result<Script> {
    let mut reader = Reader {
        home: path.parent().map(Path::to_owned).unwrap_or_default(),
        variables: variables.clone(),
        text: String::new(),
    };
    reader.include(path, 0)?;
    Ok(Script { text: reader.text })
}

struct Reader {
    home: PathBuf,
    /// Under names in lower case.
    variables: BTreeMap<String, String>,
    text: String,
}

impl Reader {
    fn include(&mut self, path: &Path, depth: usize) -> io::Result<()> {
        let text = decode(&fs::read(path)?);
        for line in text.split_inclusive('\n') {
            let Some(directive) = directive(line) else {
                let line = self.replaced(line);
                self.text.push_str(&line);
                continue;
            };
            let (word, rest) = directive.split_once(char::is_whitespace).unwrap_or((directive, ""));
            let rest = self.replaced(rest.trim());
            match word.to_ascii_lowercase().as_str() {
                "r" if depth < INCLUDES_MAX => {
                    let name = rest.trim_matches('"').replace('\\', "/");
                    let beside = path.parent().unwrap_or(Path::new("")).join(&name);
                    let found = [beside, self.home.join(&name)].into_iter().find(|p| p.is_file());
                    if let Some(found) = found {
                        self.include(&found, depth + 1)?;
                    }
                }
                "setvar" => {
                    let (name, value) = rest.split_once(char::is_whitespace).unwrap_or((&rest, ""));
                    let value = value.trim().trim_matches('"').to_owned();
                    self.variables.insert(name.to_ascii_lowercase(), value);
                }
                _ => {}
            }
            // The lines of the rest keep their numbers.
            self.text.push('\n');
        }
        if !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        Ok(())
    }

    /// `$(name)` replaced.
    fn replaced(&self, line: &str) -> String {
        let mut out = String::new();
        let mut rest = line;
        while let Some(at) = rest.find("$(") {
            out.push_str(&rest[..at]);
            let inner = &rest[at + 2..];
            match inner.find(')') {
                Some(end)
                    if inner[..end].bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
                        && end > 0 =>
                {
                    let name = inner[..end].to_ascii_lowercase();
                    let value = self.variables.get(&name).map_or(&inner[..end], String::as_str);
                    out.push_str(value);
                    rest = &inner[end + 1..];
                }
                _ => {
                    out.push_str("$(");
                    rest = inner;
                }
            }
        }
        out.push_str(rest);
        out
    }
}

/// What follows the colon (or the `!!`) of a line that SQLCMD keeps for itself.
fn directive(line: &str) -> Option<&str> {
    let line = line.trim();
    if line.starts_with("!!") {
        return Some(line);
    }
    let rest = line.strip_prefix(':')?;
    const WORDS: &[&str] = &[
        "r",
        "setvar",
        "on",
        "connect",
        "out",
        "error",
        "quit",
        "exit",
        "reset",
        "help",
        "ed",
        "list",
        "listvar",
        "perftrace",
        "serverlist",
        "xml",
    ];
    let word = rest.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or("");
    WORDS.iter().any(|known| word.eq_ignore_ascii_case(known)).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_and_variables() {
        let mut reader = Reader {
            home: PathBuf::new(),
            variables: BTreeMap::from([("db".to_owned(), "Shop".to_owned())]),
            text: String::new(),
        };
        assert_eq!(reader.replaced("USE [$(DB)] $(x) $(a b) $("), "USE [Shop] x $(a b) $(");
        reader.variables.clear();
        assert_eq!(reader.replaced("$(DB)"), "DB");
        assert_eq!(directive(" :setvar a \"b\"\r\n"), Some("setvar a \"b\""));
        assert_eq!(directive(":on error exit"), Some("on error exit"));
        assert_eq!(directive("::fn_x()"), None);
        assert_eq!(directive("select 1"), None);
    }

    #[test]
    fn encodings() {
        assert_eq!(decode(&[0xff, 0xfe, b'a', 0, 0xe9, 0]), "aé");
        assert_eq!(decode(&[0xfe, 0xff, 0, b'a']), "a");
        assert_eq!(decode(&[0xef, 0xbb, 0xbf, b'a']), "a");
        assert_eq!(decode("é".as_bytes()), "é");
        assert_eq!(decode(&[b'a', 0xe9]), "aé");
        assert_eq!(decode(&[b'a', 0, b'b', 0]), "ab");
    }
}
