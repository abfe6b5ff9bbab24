//! FOR XML and FOR JSON: the shape that rows take as text.

use types::SqlType;

/// How rows become one text. The input's slots are its columns, in the order of `columns`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SerializeSpec {
    /// XML; else JSON.
    pub xml: bool,
    pub nesting: Nesting,
    /// The element of a row (XML); empty for PATH('').
    pub row: String,
    pub root: Option<String>,
    /// XML: values of RAW and AUTO are elements, not attributes.
    pub elements: bool,
    /// NULLs are shown.
    pub nulls: bool,
    /// XML: of type xml, so XML around it takes it as it is.
    pub typed: bool,
    /// JSON: without brackets around it.
    pub bare: bool,
    /// XML: declared on the outermost elements; prefix, empty for the default one, and URI.
    pub namespaces: Vec<(String, String)>,
    /// As rows of 2,033 characters, as a client gets it; else one value.
    pub chunked: bool,
    pub columns: Vec<SerialColumn>,
    /// AUTO: the table of each level, outermost first; never empty then. EXPLICIT: the element of each tag.
    pub levels: Vec<String>,
}

/// How elements or objects stand inside each other.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Nesting {
    /// RAW: each column by itself.
    #[default]
    Flat,
    /// PATH: neighbours share what their paths have in common.
    Paths,
    /// AUTO: by tables.
    Levels,
    /// EXPLICIT: the first two columns say which element a row is and which one it stands in. The number of each tag.
    Tags(Vec<i64>),
}

impl SerializeSpec {
    /// The type of the text.
    pub fn ty(&self) -> SqlType {
        if self.typed { SqlType::Xml } else { SqlType::NVarChar(types::Len::Max) }
    }
}

/// What the text of a column without element of its own is.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum SerialNode {
    #[default]
    Text,
    Comment,
    CharacterData,
    /// By its target.
    Instruction(String),
}

/// One column of the input.
#[derive(Debug, Clone, PartialEq)]
pub struct SerialColumn {
    /// Objects or elements around it, then its own name. Empty: the value alone stands there (XML).
    pub path: Vec<String>,
    /// XML: an attribute of what its path leads to (the last of which is its name).
    pub attribute: bool,
    /// The value is XML or JSON itself.
    pub raw: bool,
    /// XML PATH, `data()`: separated from its neighbours of the same kind by a blank.
    pub list: bool,
    /// XML PATH, `comment()` and `processing-instruction(target)`: what its text stands in.
    pub node: SerialNode,
    /// AUTO: the level it belongs to; EXPLICIT: the place of its tag in the list.
    pub level: usize,
    /// NULL is an element with xsi:nil.
    pub nil: bool,
    pub ty: SqlType,
}

impl SerialColumn {
    /// The text of the value alone.
    pub fn of(ty: SqlType) -> SerialColumn {
        SerialColumn {
            path: Vec::new(),
            attribute: false,
            raw: false,
            list: false,
            node: SerialNode::Text,
            level: 0,
            nil: false,
            ty,
        }
    }
}

/// 6803: of the first column of EXPLICIT.
pub const NO_TAG: &str = "FOR XML EXPLICIT requires the first column to hold positive integers that represent XML tag IDs.";

/// 6804: of the second one.
pub const NO_PARENT: &str = "FOR XML EXPLICIT requires the second column to hold NULL or nonnegative integers that \
                             represent XML parent tag IDs.";
