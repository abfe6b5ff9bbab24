//! A search condition as a tree, and how words are taken.

use std::fmt;

/// How words are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Words of English have forms, and its stopwords are left out.
    pub english: bool,
    /// Stopwords are left out at all.
    pub stopwords: bool,
    /// Accents count.
    pub accents: bool,
}

/// What a word of a text has to be.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Word {
    /// This one.
    Is(String),
    /// One that begins so.
    Begins(String),
    /// A form of the same word.
    FormOf(String),
}

/// Words behind one another: each with its place from the first; places of stopwords are left open.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Phrase {
    /// Numbers of words among those of the condition.
    pub words: Vec<(u32, usize)>,
    /// How many places it takes.
    pub length: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Condition {
    /// A phrase; without words, of stopwords alone, it is nowhere.
    Phrase(Phrase),
    Near(Near),
    /// All of the first, none of the others.
    And(Vec<Condition>, Vec<Condition>),
    Or(Vec<Condition>),
    /// ISABOUT: one of them at least, with its weight.
    About(Vec<(Condition, f64)>),
    /// FREETEXT: one of the words at least, and how often each stands in the question.
    Any(Vec<(Phrase, f64)>),
}

impl Condition {
    /// A phrase of stopwords alone?
    pub fn is_noise(&self) -> bool {
        matches!(self, Condition::Phrase(phrase) if phrase.words.is_empty())
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Near {
    pub phrases: Vec<Phrase>,
    /// Other words between the first and the last, at most.
    pub distance: Option<u32>,
    pub is_ordered: bool,
    /// Words that lie farther apart add nothing to a rank.
    pub rank_distance: u32,
}

/// What is wrong with a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConditionError {
    /// 7630: at what it makes no sense.
    Syntax(String),
    /// 9987.
    Distance,
    /// 7632.
    Weight,
    /// It is to stop, or memory is over.
    Stopped(runtime::task::Stopped),
}

impl ConditionError {
    /// SQL Server's number and text, of severity 15; none where it is to stop.
    pub fn message(&self, condition: &str) -> Option<(i32, String)> {
        match self {
            ConditionError::Syntax(near) => Some((
                7630,
                format!("Syntax error near '{near}' in the full-text search condition '{condition}'."),
            )),
            ConditionError::Distance => Some((
                9987,
                "The max gap argument in NEAR clause must be either the word MAX or an integer greater than or equal to 0."
                    .into(),
            )),
            ConditionError::Weight => {
                Some((7632, "The value of the Weight argument must be between 0.0 and 1.0.".into()))
            }
            ConditionError::Stopped(_) => None,
        }
    }
}

impl From<runtime::task::Stopped> for ConditionError {
    fn from(stopped: runtime::task::Stopped) -> ConditionError {
        ConditionError::Stopped(stopped)
    }
}

impl fmt::Display for ConditionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConditionError::Syntax(near) => write!(f, "syntax error near '{near}'"),
            ConditionError::Distance => f.write_str("a distance is a number or MAX"),
            ConditionError::Weight => f.write_str("a weight is between 0 and 1"),
            ConditionError::Stopped(stopped) => write!(f, "{stopped}"),
        }
    }
}

impl std::error::Error for ConditionError {}
