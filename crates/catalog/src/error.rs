//! What data definition refuses, with SQL Server's numbers and texts.

use engine::EngineError;
use std::fmt;
use types::TypeError;

/// An error of the catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CatalogError {
    /// 2714: an object of this name exists.
    AlreadyExists { name: Box<str>, wanted: Wanted },
    /// 11728: a sequence has no numbers left.
    SequenceEnds { name: Box<str> },
    /// 3701: cannot drop: it does not exist. `kind` is `table` or `procedure`.
    CannotDrop { kind: &'static str, name: Box<str> },
    /// 208.
    InvalidObject { name: Box<str> },
    /// 4902: ALTER TABLE of an object that does not exist.
    CannotFind { name: Box<str> },
    /// 4701: TRUNCATE of a table that does not exist.
    CannotTruncate { name: Box<str> },
    /// 2812: no such procedure.
    NoProcedure { name: Box<str> },
    /// 1801.
    DatabaseExists { name: Box<str> },
    /// 911.
    NoDatabase { name: Box<str> },
    /// 3702 / 3708: the database may not be dropped.
    SystemDatabase { name: Box<str> },
    /// 2705: a column name twice in a table.
    DuplicateColumn { table: Box<str>, column: Box<str> },
    /// 1911: a key names a column that is not there.
    NoKeyColumn { column: Box<str> },
    /// 1909: a column twice in a key.
    DuplicateKeyColumn { column: Box<str> },
    /// 1779: the table has a primary key.
    PrimaryKeyExists { table: Box<str> },
    /// 8111: primary key on a nullable column.
    NullableKey { table: Box<str>, column: Box<str> },
    /// 1919, 1978: a type that cannot be in a key.
    InvalidKeyType { table: Box<str>, column: Box<str>, spatial: bool },
    /// 1781: the column has a default.
    DefaultExists { column: Box<str> },
    /// 3728: no such constraint.
    NoConstraint { name: Box<str> },
    /// 1752: a default for a column that is not there.
    NoDefaultColumn { column: Box<str>, table: Box<str> },
    /// 4901: ADD of a NOT NULL column without default to a table with rows.
    AddNotNull { table: Box<str>, column: Box<str> },
    /// 1921: no such filegroup.
    NoFilegroup { name: Box<str> },
    /// 2760: no such schema.
    NoSchema { name: Box<str> },
    /// 1701: the row cannot fit 8060 bytes even when variable columns are empty.
    RowTooLarge { table: Box<str>, bytes: usize },
    /// 2744: a second identity column.
    MultipleIdentity { table: Box<str> },
    /// 1913: an index of this name exists on the table.
    IndexExists { name: Box<str>, table: Box<str> },
    /// 1902: a second clustered index.
    ClusteredExists { table: Box<str>, index: Box<str> },
    /// 1904: more than 32 columns in a key.
    TooManyKeyColumns { index: Box<str>, columns: usize },
    /// 1944: the columns of a key take more bytes than it may have.
    KeyTooLong { index: Box<str>, bytes: usize, most: usize },
    /// 3701: no such index; `name` is `table.index`.
    NoIndex { name: Box<str> },
    /// 3723: the index of a constraint; `name` is `table.index`.
    ConstraintIndex { name: Box<str>, kind: &'static str },
    /// 1767: a foreign key to a table that is not there.
    NoReferencedTable { key: Box<str>, table: Box<str> },
    /// 1769 (`own`) and 1770: a foreign key names a column that is not there.
    NoForeignKeyColumn { key: Box<str>, column: Box<str>, table: Box<str>, own: bool },
    /// 1773: a foreign key without columns to a table without a primary key.
    NoPrimaryKey { key: Box<str>, table: Box<str> },
    /// 1776: the columns referred to are no key.
    NoReferencedKey { key: Box<str>, table: Box<str> },
    /// 8139: another number of columns on either side.
    ForeignKeyWidth { table: Box<str> },
    /// 1753 (`length`) and 1778: columns of different types.
    ForeignKeyType { key: Box<str>, referenced: Box<str>, referencing: Box<str>, length: bool },
    /// 1785.
    CascadeCycle { key: Box<str>, table: Box<str> },
    /// 3726: DROP TABLE of a table that another one refers to.
    Referenced { table: Box<str> },
    /// 4712: the same of TRUNCATE TABLE.
    TruncateReferenced { table: Box<str> },
    /// 3725: a key that a foreign key refers to is to go.
    KeyReferenced { key: Box<str>, table: Box<str>, by: Box<str> },
    /// 4922: something depends on a column that is to go or change.
    ColumnInUse {
        action: &'static str,
        column: Box<str>,
        /// All that does: an object, an index or a column, and its name.
        objects: Vec<(&'static str, Box<str>)>,
    },
    /// 4924: no such column.
    NoColumn { action: &'static str, column: Box<str>, table: Box<str> },
    /// 4923: the last column is to go.
    LastColumn { column: Box<str>, table: Box<str> },
    /// 2738: a second rowversion column.
    MultipleRowversion { table: Box<str>, column: Box<str> },
    /// 2727: no such index.
    NoSuchIndex { name: Box<str> },
    /// 4917: no such CHECK or FOREIGN KEY constraint.
    NoSuchConstraint { name: Box<str> },
    /// 40510 in spirit: a form that is not built yet, said in words.
    NotSupported { what: Box<str> },
    /// Another of SQL Server's numbers, with its text.
    Refused { number: i32, text: Box<str> },
    /// From the storage engine: locks, log, disk.
    Engine(EngineError),
    /// A row of a system table that does not fit (a default's text of thousands of characters).
    Row(TypeError),
    /// The system tables do not hold what they must (824 in spirit): where, in words.
    Corrupt { what: Box<str> },
}

/// What a name was wanted for that is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// A table, a sequence, a synonym.
    Table,
    /// A procedure, a function, a view.
    Module,
    Trigger,
    Constraint,
}

impl CatalogError {
    /// [`CatalogError::Refused`].
    pub fn refused(number: i32, text: impl Into<Box<str>>) -> CatalogError {
        CatalogError::Refused { number, text: text.into() }
    }

    /// 4928: a column that is `what`.
    pub(crate) fn unalterable(column: &str, what: &str) -> CatalogError {
        let text = format!("Cannot alter column '{column}' because it is '{what}'.");
        CatalogError::refused(4928, text)
    }

    /// SQL Server's message number.
    pub fn number(&self) -> i32 {
        match self {
            CatalogError::AlreadyExists { .. } => 2714,
            CatalogError::SequenceEnds { .. } => 11728,
            CatalogError::CannotDrop { .. } => 3701,
            CatalogError::InvalidObject { .. } => 208,
            CatalogError::CannotFind { .. } => 4902,
            CatalogError::CannotTruncate { .. } => 4701,
            CatalogError::NoProcedure { .. } => 2812,
            CatalogError::DatabaseExists { .. } => 1801,
            CatalogError::NoDatabase { .. } => 911,
            CatalogError::SystemDatabase { .. } => 3708,
            CatalogError::DuplicateColumn { .. } => 2705,
            CatalogError::NoKeyColumn { .. } => 1911,
            CatalogError::DuplicateKeyColumn { .. } => 1909,
            CatalogError::PrimaryKeyExists { .. } => 1779,
            CatalogError::NullableKey { .. } => 8111,
            CatalogError::InvalidKeyType { spatial: false, .. } => 1919,
            CatalogError::InvalidKeyType { spatial: true, .. } => 1978,
            CatalogError::DefaultExists { .. } => 1781,
            CatalogError::NoConstraint { .. } => 3728,
            CatalogError::NoDefaultColumn { .. } => 1752,
            CatalogError::AddNotNull { .. } => 4901,
            CatalogError::NoFilegroup { .. } => 1921,
            CatalogError::NoSchema { .. } => 2760,
            CatalogError::RowTooLarge { .. } => 1701,
            CatalogError::MultipleIdentity { .. } => 2744,
            CatalogError::IndexExists { .. } => 1913,
            CatalogError::ClusteredExists { .. } => 1902,
            CatalogError::TooManyKeyColumns { .. } => 1904,
            CatalogError::KeyTooLong { .. } => 1944,
            CatalogError::NoIndex { .. } => 3701,
            CatalogError::ConstraintIndex { .. } => 3723,
            CatalogError::NoReferencedTable { .. } => 1767,
            CatalogError::NoForeignKeyColumn { own: true, .. } => 1769,
            CatalogError::NoForeignKeyColumn { .. } => 1770,
            CatalogError::NoPrimaryKey { .. } => 1773,
            CatalogError::NoReferencedKey { .. } => 1776,
            CatalogError::ForeignKeyWidth { .. } => 8139,
            CatalogError::ForeignKeyType { length: true, .. } => 1753,
            CatalogError::ForeignKeyType { .. } => 1778,
            CatalogError::CascadeCycle { .. } => 1785,
            CatalogError::Referenced { .. } => 3726,
            CatalogError::TruncateReferenced { .. } => 4712,
            CatalogError::KeyReferenced { .. } => 3725,
            CatalogError::ColumnInUse { .. } => 4922,
            CatalogError::NoColumn { .. } => 4924,
            CatalogError::LastColumn { .. } => 4923,
            CatalogError::MultipleRowversion { .. } => 2738,
            CatalogError::NoSuchIndex { .. } => 2727,
            CatalogError::NoSuchConstraint { .. } => 4917,
            CatalogError::NotSupported { .. } => 40510,
            CatalogError::Refused { number, .. } => *number,
            CatalogError::Engine(e) => e.number(),
            CatalogError::Row(e) => e.number(),
            CatalogError::Corrupt { .. } => 824,
        }
    }

    /// SQL Server's severity.
    pub fn severity(&self) -> u8 {
        match self {
            CatalogError::CannotDrop { .. }
            | CatalogError::NoIndex { .. }
            | CatalogError::NoSuchIndex { .. } => 11,
            CatalogError::Engine(EngineError::Deadlock) => 13,
            CatalogError::Corrupt { .. } => 24,
            _ => 16,
        }
    }
}

impl fmt::Display for CatalogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CatalogError::SequenceEnds { name } => write!(
                f,
                "The sequence object '{name}' has reached its minimum or maximum value. Restart the sequence object to \
                 allow new values to be generated."
            ),
            CatalogError::AlreadyExists { name, .. } => {
                write!(f, "There is already an object named '{name}' in the database.")
            }
            CatalogError::CannotDrop { kind, name } => write!(
                f,
                "Cannot drop the {kind} '{name}', because it does not exist or you do not have \
                 permission."
            ),
            CatalogError::InvalidObject { name } => write!(f, "Invalid object name '{name}'."),
            CatalogError::CannotFind { name } => write!(
                f,
                "Cannot find the object \"{name}\" because it does not exist or you do not have \
                 permissions."
            ),
            CatalogError::CannotTruncate { name } => write!(
                f,
                "Cannot find the object \"{name}\" because it does not exist or you do not have \
                 permissions."
            ),
            CatalogError::NoProcedure { name } => {
                write!(f, "Could not find stored procedure '{name}'.")
            }
            CatalogError::DatabaseExists { name } => {
                write!(f, "Database '{name}' already exists. Choose a different database name.")
            }
            CatalogError::NoDatabase { name } => write!(
                f,
                "Database '{name}' does not exist. Make sure that the name is entered correctly."
            ),
            CatalogError::SystemDatabase { name } => {
                write!(f, "Cannot drop the database '{name}' because it is a system database.")
            }
            CatalogError::DuplicateColumn { table, column } => write!(
                f,
                "Column names in each table must be unique. Column name '{column}' in table \
                 '{table}' is specified more than once."
            ),
            CatalogError::NoKeyColumn { column } => {
                write!(f, "Column name '{column}' does not exist in the target table or view.")
            }
            CatalogError::DuplicateKeyColumn { column } => write!(
                f,
                "Cannot use duplicate column names in index. Column name '{column}' listed more \
                 than once."
            ),
            CatalogError::PrimaryKeyExists { table } => {
                write!(f, "Table '{table}' already has a primary key defined on it.")
            }
            CatalogError::NullableKey { table, .. } => write!(
                f,
                "Cannot define PRIMARY KEY constraint on nullable column in table '{table}'."
            ),
            CatalogError::InvalidKeyType { table, column, spatial } => write!(
                f,
                "Column '{column}' in table '{table}' is of a type that is invalid for use as a \
                 key column in an index{}.",
                if *spatial { " or statistics" } else { "" }
            ),
            CatalogError::DefaultExists { .. } => {
                f.write_str("Column already has a DEFAULT bound to it.")
            }
            CatalogError::NoConstraint { name } => write!(f, "'{name}' is not a constraint."),
            CatalogError::NoDefaultColumn { column, table } => write!(
                f,
                "Column '{column}' in table '{table}' is invalid for creating a default \
                 constraint."
            ),
            CatalogError::AddNotNull { table, column } => write!(
                f,
                "ALTER TABLE only allows columns to be added that can contain nulls, or have a \
                 DEFAULT definition specified, or the column being added is an identity or \
                 timestamp column, or alternatively if none of the previous conditions are \
                 satisfied the table must be empty to allow addition of this column. Column \
                 '{column}' cannot be added to non-empty table '{table}' because it does not \
                 satisfy these conditions."
            ),
            CatalogError::NoFilegroup { name } => {
                write!(f, "Invalid filegroup '{name}' specified.")
            }
            CatalogError::NoSchema { name } => write!(
                f,
                "The specified schema name \"{name}\" either does not exist or you do not have \
                 permission to use it."
            ),
            CatalogError::RowTooLarge { table, bytes } => write!(
                f,
                "Creating or altering table '{table}' failed because the minimum row size would \
                 be {bytes}, including internal overhead. This exceeds the maximum allowable \
                 table row size of 8060 bytes."
            ),
            CatalogError::MultipleIdentity { table } => write!(
                f,
                "Multiple identity columns specified for table '{table}'. Only one identity \
                 column per table is allowed."
            ),
            CatalogError::IndexExists { name, table } => write!(
                f,
                "The operation failed because an index or statistics with name '{name}' already \
                 exists on table '{table}'."
            ),
            CatalogError::ClusteredExists { table, index } => write!(
                f,
                "Cannot create more than one clustered index on table '{table}'. Drop the existing \
                 clustered index '{index}' before creating another."
            ),
            CatalogError::TooManyKeyColumns { index, columns } => write!(
                f,
                "The index '{index}' has {columns} column names in index key list. The maximum \
                 limit for index or statistics key column list is 32."
            ),
            CatalogError::KeyTooLong { index, bytes, most } => write!(
                f,
                "Index '{index}' was not created. This index has a key length of at least {bytes} bytes. The \
                 maximum permissible key length is {most} bytes."
            ),
            CatalogError::NoIndex { name } => write!(
                f,
                "Cannot drop the index '{name}', because it does not exist or you do not have \
                 permission."
            ),
            CatalogError::ConstraintIndex { name, kind } => write!(
                f,
                "An explicit DROP INDEX is not allowed on index '{name}'. It is being used for \
                 {kind} constraint enforcement."
            ),
            CatalogError::NoReferencedTable { key, table } => {
                write!(f, "Foreign key '{key}' references invalid table '{table}'.")
            }
            CatalogError::NoForeignKeyColumn { key, column, table, own } => {
                let side = if *own { "referencing" } else { "referenced" };
                write!(
                    f,
                    "Foreign key '{key}' references invalid column '{column}' in {side} table \
                     '{table}'."
                )
            }
            CatalogError::NoPrimaryKey { key, table } => write!(
                f,
                "Foreign key '{key}' has implicit reference to object '{table}' which does not \
                 have a primary key defined on it."
            ),
            CatalogError::NoReferencedKey { key, table } => write!(
                f,
                "There are no primary or candidate keys in the referenced table '{table}' that \
                 match the referencing column list in the foreign key '{key}'."
            ),
            CatalogError::ForeignKeyWidth { table } => write!(
                f,
                "Number of referencing columns in foreign key differs from number of referenced \
                 columns, table '{table}'."
            ),
            CatalogError::ForeignKeyType { key, referenced, referencing, length: true } => write!(
                f,
                "Column '{referenced}' is not the same length or scale as referencing column \
                 '{referencing}' in foreign key '{key}'. Columns participating in a foreign key \
                 relationship must be defined with the same length and scale."
            ),
            CatalogError::ForeignKeyType { key, referenced, referencing, .. } => write!(
                f,
                "Column '{referenced}' is not the same data type as referencing column \
                 '{referencing}' in foreign key '{key}'."
            ),
            CatalogError::CascadeCycle { key, table } => write!(
                f,
                "Introducing FOREIGN KEY constraint '{key}' on table '{table}' may cause cycles or \
                 multiple cascade paths. Specify ON DELETE NO ACTION or ON UPDATE NO ACTION, or \
                 modify other FOREIGN KEY constraints."
            ),
            CatalogError::Referenced { table } => write!(
                f,
                "Could not drop object '{table}' because it is referenced by a FOREIGN KEY \
                 constraint."
            ),
            CatalogError::TruncateReferenced { table } => write!(
                f,
                "Cannot truncate table '{table}' because it is being referenced by a FOREIGN KEY \
                 constraint."
            ),
            CatalogError::KeyReferenced { key, table, by } => write!(
                f,
                "The constraint '{key}' is being referenced by table '{table}', foreign key \
                 constraint '{by}'."
            ),
            CatalogError::ColumnInUse { action, column, .. } => write!(
                f,
                "ALTER TABLE {action} {column} failed because one or more objects access this \
                 column."
            ),
            CatalogError::NoColumn { action, column, table } => write!(
                f,
                "ALTER TABLE {action} failed because column '{column}' does not exist in table \
                 '{table}'."
            ),
            CatalogError::LastColumn { column, table } => write!(
                f,
                "ALTER TABLE DROP COLUMN failed because '{column}' is the only data column in \
                 table '{table}'. A table must have at least one data column."
            ),
            CatalogError::MultipleRowversion { table, column } => write!(
                f,
                "A table can only have one timestamp column. Because table '{table}' already has \
                 one, the column '{column}' cannot be added."
            ),
            CatalogError::NoSuchIndex { name } => write!(f, "Cannot find index '{name}'."),
            CatalogError::NoSuchConstraint { name } => {
                write!(f, "Constraint '{name}' does not exist.")
            }
            CatalogError::NotSupported { what } => {
                write!(f, "Statement '{what}' is not supported in this version of SQL Server.")
            }
            CatalogError::Refused { text, .. } => f.write_str(text),
            CatalogError::Engine(e) => e.fmt(f),
            CatalogError::Row(e) => e.fmt(f),
            CatalogError::Corrupt { what } => {
                write!(f, "The system tables of the database are damaged: {what}.")
            }
        }
    }
}

impl std::error::Error for CatalogError {}

impl From<EngineError> for CatalogError {
    fn from(e: EngineError) -> Self {
        CatalogError::Engine(e)
    }
}

impl From<TypeError> for CatalogError {
    fn from(e: TypeError) -> Self {
        CatalogError::Row(e)
    }
}
