//! What a statement warns of when it is done: once, however many rows it concerns.
//!
//! Promise: a warning is noted where its cause is met and told once for the statement, after its rows and before its end. Noting
//! costs nothing for rows without a cause.

/// A set of warnings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Warnings(u8);

impl Warnings {
    /// 8153.
    pub const NULL_ELIMINATED: Warnings = Warnings(1);
    /// 3607.
    pub const DIVISION_BY_ZERO: Warnings = Warnings(2);
    /// 3606.
    pub const OVERFLOW: Warnings = Warnings(4);
    /// 9927.
    pub const NOISE_WORDS: Warnings = Warnings(8);
    /// The session has messages of its own to tell with them.
    pub const NOTICES: Warnings = Warnings(16);

    #[inline]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn add(&mut self, more: Warnings) {
        self.0 |= more.0;
    }

    /// Without those others.
    pub fn without(self, others: Warnings) -> Warnings {
        Warnings(self.0 & !others.0)
    }

    /// Their numbers and texts, in the order in which they are told.
    pub fn messages(self) -> impl Iterator<Item = (i32, &'static str)> {
        const ALL: [(Warnings, i32, &str); 4] = [
            (Warnings::DIVISION_BY_ZERO, 3607, "Division by zero occurred."),
            (Warnings::OVERFLOW, 3606, "Arithmetic overflow occurred."),
            (
                Warnings::NULL_ELIMINATED,
                8153,
                "Warning: Null value is eliminated by an aggregate or other SET operation.",
            ),
            (
                Warnings::NOISE_WORDS,
                9927,
                "Informational: The full-text search condition contained noise word(s).",
            ),
        ];
        ALL.into_iter()
            .filter(move |(one, ..)| self.0 & one.0 != 0)
            .map(|(_, number, text)| (number, text))
    }
}
