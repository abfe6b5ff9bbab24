//! What binding refuses, with SQL Server's number and text.

use std::fmt;

use types::TypeError;

pub type Result<T> = std::result::Result<T, BindError>;

/// A statement that cannot be bound. Boxed: the good way, which recurses, is the one that should be narrow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BindError(Box<Refusal>);

/// What a [`BindError`] tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// SQL Server's number: 207, 208, 209, 137, 4104 ...
    pub number: i32,
    pub severity: u8,
    pub state: u8,
    /// Line in the batch or module, from 1.
    pub line: u32,
    pub text: String,
    /// The view whose text it is about, where that stands for the view's rows.
    pub module: Option<Box<str>>,
    /// Found before it, where several names of a statement or batch are wrong.
    pub ahead: Vec<BindError>,
}

impl std::ops::Deref for BindError {
    type Target = Refusal;

    fn deref(&self) -> &Refusal {
        &self.0
    }
}

impl std::ops::DerefMut for BindError {
    fn deref_mut(&mut self) -> &mut Refusal {
        &mut self.0
    }
}

/// The text of 1750, which follows what kept a constraint or an index from being made.
pub const NOT_MADE: &str = "Could not create constraint or index. See previous errors.";

impl BindError {
    /// 8631: what is to be done is nested deeper than a session's stack may go.
    pub fn stack_limit(line: u32) -> BindError {
        let text = "Internal error: Server stack limit has been reached. Please look for potentially deep nesting in your \
                    query, and try to simplify it.";
        BindError::new(8631, 17, line, text)
    }

    /// What it tells.
    pub fn into_inner(self) -> Refusal {
        *self.0
    }

    /// In state 1, about no module, with nothing ahead of it. `line`: of the batch or module, from 1.
    pub fn new(number: i32, severity: u8, line: u32, text: impl Into<String>) -> BindError {
        let (text, ahead) = (text.into(), Vec::new());
        let (state, module) = (1, None);
        BindError(Box::new(Refusal { number, severity, state, line, text, module, ahead }))
    }

    /// About a column's name: binding goes on behind it, to find what else is wrong.
    pub fn is_about_column(&self) -> bool {
        matches!(self.number, 207 | 209 | 4104)
    }

    /// About the columns of tables that are there: an error of the batch, whatever its statements before would change.
    pub fn is_bound_early(&self) -> bool {
        self.is_about_column() || matches!(self.number, 213 | 264)
    }

    /// The last of several, with those before it; `None` of none.
    pub fn all(mut found: Vec<BindError>) -> Option<BindError> {
        let mut last = found.pop()?;
        let mut ahead = Vec::with_capacity(found.len() + last.ahead.len());
        for mut error in found {
            ahead.append(&mut error.ahead);
            ahead.push(error);
        }
        ahead.append(&mut last.ahead);
        last.ahead = ahead;
        Some(last)
    }

    /// The same, with 1750 behind it: the constraint that it is about was not made.
    pub fn not_made(mut self) -> BindError {
        let mut last = BindError::new(1750, 16, self.line, NOT_MADE).with_state(0);
        last.ahead = std::mem::take(&mut self.ahead);
        last.ahead.push(self);
        last
    }

    /// The same in another state.
    pub fn with_state(mut self, state: u8) -> BindError {
        self.state = state;
        self
    }

    /// 264: a column that a change names twice.
    pub fn column_twice(name: &str, line: u32) -> BindError {
        BindError::new(
            264,
            16,
            line,
            format!(
                "The column name '{name}' is specified more than once in the SET clause or column list of an INSERT. A \
                 column cannot be assigned more than one value in the same clause. Modify the clause to make sure that a \
                 column is updated only once. If this statement updates or inserts columns into a view, column aliasing \
                 can conceal the duplication in your code."
            ),
        )
    }

    /// 207.
    pub fn invalid_column(name: &str, line: u32) -> BindError {
        BindError::new(207, 16, line, format!("Invalid column name '{name}'."))
    }

    /// 208; in state 0 of a temporary table.
    pub fn invalid_object(name: impl fmt::Display, line: u32) -> BindError {
        let name = name.to_string();
        // Temporary tables are looked for elsewhere.
        let state = u8::from(!name.rsplit('.').next().is_some_and(|own| own.starts_with('#')));
        BindError::new(208, 16, line, format!("Invalid object name '{name}'.")).with_state(state)
    }

    /// Of what a definition names: under several numbers.
    pub fn cannot_find(number: i32, name: impl fmt::Display, line: u32) -> BindError {
        let text = format!(
            "Cannot find the object \"{name}\" because it does not exist or you do not have permissions."
        );
        BindError::new(number, 16, line, text)
    }

    /// What a value or a conversion refuses, under the same number and state.
    pub fn of_type(error: TypeError, line: u32) -> BindError {
        BindError::new(error.number(), error.severity(), line, error.to_string())
            .with_state(error.state())
    }

    /// What the catalog refuses, under the same number.
    pub fn of_catalog(error: catalog::CatalogError, line: u32) -> BindError {
        BindError::new(error.number(), error.severity(), line, error.to_string())
    }

    /// 40510: T-SQL that SQL Server has and this engine does not yet.
    pub fn unsupported(what: impl fmt::Display, line: u32) -> BindError {
        BindError::new(
            40510,
            16,
            line,
            format!("Statement '{what}' is not supported in this version of SQL Server."),
        )
    }

    /// A missing object, column or database: something a DDL statement earlier in the batch may yet
    /// supply, so the statement is bound again when control reaches it.
    pub fn is_missing_object(&self) -> bool {
        match self.number {
            208 | 470 | 926 | 927 | 942 | 5313 | 4121 | 4701 | 4902 | 1088 | 911 | 15151 => true,
            4413 => self.ahead.iter().any(BindError::is_missing_object),
            _ => false,
        }
    }

    /// 4413 behind what is wrong in a view's text; anything else than a name says nothing of the view.
    pub fn of_view(mut found: Vec<BindError>, view: &str, shown: &str, line: u32) -> BindError {
        let about_names = |e: &BindError| matches!(e.number, 207..=209 | 4104 | 4121 | 4413 | 5313);
        if let Some(other) = found.iter().position(|e| !about_names(e)) {
            return found.swap_remove(other);
        }
        let mut ahead = Vec::with_capacity(found.len());
        for mut error in found {
            ahead.append(&mut error.ahead);
            error.module.get_or_insert_with(|| view.into());
            ahead.push(error);
        }
        let text = format!("Could not use view or function '{shown}' because of binding errors.");
        let mut error = BindError::new(4413, 16, line, text);
        error.ahead = ahead;
        error
    }

    /// Depends on what objects and columns exist, and so perhaps not an error any more when a DDL
    /// statement before it has run.
    pub fn is_about_names(&self) -> bool {
        self.is_missing_object()
            || matches!(self.number, 207 | 209 | 213 | 264 | 4104 | 4413 | 109..=110)
    }
}

impl From<runtime::task::Stopped> for BindError {
    #[cold]
    fn from(stopped: runtime::task::Stopped) -> Self {
        BindError::new(stopped.number(), stopped.severity(), 0, stopped.to_string())
    }
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Msg {}, Level {}, State {}, Line {}\n{}",
            self.number, self.severity, self.state, self.line, self.text
        )
    }
}

impl std::error::Error for BindError {}
