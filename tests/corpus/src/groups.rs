//! Failures grouped by their cause: counted under a text that has lost its particulars, with one example kept.

use std::collections::BTreeMap;

/// Causes, each with how often it was met and where first.
#[derive(Default)]
pub struct Groups {
    causes: BTreeMap<String, (usize, String)>,
}

impl Groups {
    /// Counts one failure; `example` says where it was.
    pub fn add(&mut self, cause: &str, example: impl FnOnce() -> String) {
        self.causes.entry(cause.to_owned()).or_insert_with(|| (0, example())).0 += 1;
    }

    /// Takes over what another has counted.
    pub fn merge(&mut self, other: Groups) {
        for (cause, (count, example)) in other.causes {
            self.causes.entry(cause).or_insert((0, example)).0 += count;
        }
    }

    /// Prints the most frequent `most` of them.
    pub fn print(&self, title: &str, most: usize) {
        if self.causes.is_empty() {
            return;
        }
        println!("{title}:");
        let mut sorted: Vec<_> = self.causes.iter().collect();
        sorted.sort_by_key(|(cause, (count, _))| (std::cmp::Reverse(*count), (*cause).clone()));
        for (cause, (count, example)) in sorted.iter().take(most) {
            println!("{count:>7}  {cause}\n         {example}");
        }
        if sorted.len() > most {
            println!("         ... and {} causes more", sorted.len() - most);
        }
    }
}

/// A message without its particulars: what stands in quotes and numbers becomes `#`.
pub fn without_particulars(message: &str) -> String {
    let mut out = String::new();
    let mut quoted = false;
    let mut digits = false;
    for c in message.lines().next().unwrap_or("").chars() {
        match c {
            '\'' if quoted => {
                quoted = false;
                out.push_str("'#'");
            }
            '\'' => quoted = true,
            _ if quoted => {}
            '0'..='9' if digits => {}
            '0'..='9' => {
                digits = true;
                out.push('#');
            }
            _ => {
                digits = false;
                out.push(c);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn particulars_go() {
        assert_eq!(
            without_particulars("Invalid column name 'a1' in 23 rows."),
            "Invalid column name '#' in # rows."
        );
    }
}
