//! What was looked at: how much of it holds, and a sentence for each that does not. A run goes on after one that does not.

/// See the file.
#[derive(Default)]
pub struct Checks {
    pub held: usize,
    pub wrong: Vec<String>,
}

impl Checks {
    pub fn that(&mut self, holds: bool, what: impl FnOnce() -> String) {
        match holds {
            true => self.held += 1,
            false => self.wrong.push(what()),
        }
    }

    pub fn same<T: PartialEq + std::fmt::Debug>(&mut self, found: T, wanted: T, what: &str) {
        self.that(found == wanted, || format!("{what}: {found:?} and not {wanted:?}"));
    }
}
