//! GO: the word that tools, not the server, understand.

/// One batch of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchText<'a> {
    /// The text between two GO lines, without them.
    pub text: &'a str,
    /// Line of the script on which the batch begins, from 1.
    pub line: u32,
    /// How often to run it (`GO 5`), 1 by default.
    pub count: u32,
}

/// Cuts a script into batches at lines that hold only `GO [count]`, outside comments and texts.
/// Batches of blanks only are left out.
pub fn split_batches(_script: &str) -> Vec<BatchText<'_>> {
    unimplemented!()
}
