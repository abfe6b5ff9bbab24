//! What may be wrong with a schema or a document, with SQL Server's numbers (Database Engine events and errors, 2200 on,
//! 6300 on, 6900 on, 9300 on).

pub use xml::XmlError as SchemaError;

/// What most of the crate yields.
pub type Result<T> = std::result::Result<T, SchemaError>;

/// An error of a schema document.
pub fn wrong<T>(number: i32, text: impl Into<String>) -> Result<T> {
    Err(SchemaError::new(number, text))
}

/// 2307, 2308.
pub fn undefined(name: &crate::names::QName) -> SchemaError {
    match name.uri.is_empty() {
        true => SchemaError::new(2307, format!("Reference to an undefined name '{}'", name.local)),
        false => SchemaError::new(
            2308,
            format!(
                "Reference to an undefined name '{}' within namespace '{}'",
                name.local, name.uri
            ),
        ),
    }
}
