//! What the definition of a table says by itself: its options, names that come twice, types that are another one's name.
//!
//! Promise: nothing here asks whether a type, a table or a constraint is there. Errors: 102, 1702, 8168, 10779.

use catalog::TableSpec;
use syntax::ast;

use crate::error::{BindError, Result};

/// DATA_COMPRESSION of a table is that of its clustered index, where it has one that says nothing of it.
pub fn compress(spec: &mut TableSpec, options: &[ast::DatabaseOption]) {
    let said = options.iter().filter(|option| option.name == "DATA_COMPRESSION");
    let Some(said) =
        said.filter_map(|option| crate::index_definition::compression(&option.value)).next_back()
    else {
        return;
    };
    let key = spec.primary_key.as_mut().filter(|key| key.clustered).map(|key| &mut key.options);
    let unique = spec.unique.iter_mut().find(|key| key.clustered).map(|key| &mut key.options);
    let index = spec.indexes.iter_mut().find(|index| index.clustered);
    let index = index.map(|index| &mut index.options);
    match key.or(unique).or(index) {
        Some(options) if options.compression == catalog::Compression::None => {
            options.compression = said;
        }
        Some(_) => {}
        None => spec.compression = said,
    }
}

/// WITH (MEMORY_OPTIMIZED = ON, DURABILITY = ...): whether rows are durable; none for a table on disk, which has no DURABILITY.
pub fn memory_options(options: &[ast::DatabaseOption]) -> Result<Option<bool>> {
    let on =
        |o: &&ast::DatabaseOption| o.name == "MEMORY_OPTIMIZED" && o.value == ast::OptionValue::On;
    let in_memory = options.iter().find(on).is_some();
    let mut durable = true;
    for option in options.iter().filter(|o| o.name == "DURABILITY") {
        let word = match &option.value {
            ast::OptionValue::Word(word) => word.as_str(),
            _ => "",
        };
        durable = match word {
            "SCHEMA_AND_DATA" => true,
            "SCHEMA_ONLY" => false,
            _ => {
                let text = format!("Incorrect syntax near '{word}'.");
                return Err(BindError::new(102, 15, option.span.line, text));
            }
        };
        if !in_memory {
            let text = format!(
                "The durability option '{}' is supported only with memory optimized tables.",
                word.to_lowercase()
            );
            return Err(BindError::new(10779, 15, option.span.line, text));
        }
    }
    Ok(in_memory.then_some(durable))
}

/// 8168: two constraints of one statement with one name.
pub fn unlike(definition: &ast::TableDefinition) -> Result<()> {
    let of_columns = definition.columns.iter().flat_map(|column| {
        let default = column.default.as_ref().and_then(|default| default.name.as_ref());
        default.into_iter().chain(column.constraints.iter().filter_map(|c| c.name.as_ref()))
    });
    let own = definition.constraints.iter().filter_map(|c| c.name.as_ref());
    let mut seen = std::collections::HashSet::new();
    for name in of_columns.chain(own) {
        if !seen.insert(catalog::fold_name(&name.value)) {
            let text = format!(
                "Cannot create, drop, enable, or disable more than one constraint, column, index, or trigger named '{}' in \
                 this context. Duplicate names are not allowed.",
                name.value
            );
            return Err(BindError::new(8168, 16, name.span.line.max(1), text).with_state(0));
        }
    }
    Ok(())
}

/// user_type_id of a type of the system that is another one by another name: sysname, and the texts of old, whose values
/// are those of the (max) types.
pub fn system_alias(ty: &ast::TypeName) -> Option<i32> {
    let ids = [("sysname", 256), ("text", 35), ("ntext", 99), ("image", 34)];
    let of_system = ty.schema.as_ref().is_none_or(|s| s.value.eq_ignore_ascii_case("sys"));
    let found = ids.iter().find(|(name, _)| ty.name.eq_ignore_ascii_case(name))?;
    of_system.then_some(found.1)
}

/// text, ntext or image.
pub fn is_long_type(ty: &ast::TypeName) -> bool {
    system_alias(ty).is_some_and(|id| catalog::LONG_TYPES.contains(&id))
}

/// timestamp, by either name.
pub fn is_rowversion(ty: &ast::TypeName) -> bool {
    ["timestamp", "rowversion"].iter().any(|name| ty.name.eq_ignore_ascii_case(name))
}

/// 1702.
pub fn too_many_columns(column: &str, table: &str, line: u32) -> BindError {
    let text = format!(
        "CREATE TABLE failed because column '{column}' in table '{table}' exceeds the maximum of {} columns.",
        catalog::COLUMNS_MAX
    );
    BindError::new(1702, 16, line, text)
}
