//! Names of functions by their offset in a program, from its symbol table.

use object::{Object, ObjectSymbol, SymbolKind};
use std::path::Path;

/// Functions in the order of their addresses.
pub struct Symbols(Vec<(u64, String)>);

impl Symbols {
    pub fn of(program: &Path) -> Result<Symbols, String> {
        let said = |error: &dyn std::fmt::Display| format!("{}: {error}", program.display());
        let bytes = std::fs::read(program).map_err(|error| said(&error))?;
        let file = object::File::parse(&*bytes).map_err(|error| said(&error))?;
        let functions =
            file.symbols().filter(|s| s.kind() == SymbolKind::Text && s.is_definition());
        let mut all: Vec<(u64, String)> = functions
            .filter_map(|s| {
                Some((s.address(), format!("{:#}", rustc_demangle::demangle(s.name().ok()?))))
            })
            .collect();
        all.sort_unstable();
        Ok(Symbols(all))
    }

    /// The functions that these return addresses lie in.
    pub fn names(&self, offsets: &[u64]) -> Vec<String> {
        let name = |&offset: &u64| {
            let after = self.0.partition_point(|(address, _)| *address <= offset);
            after.checked_sub(1).map_or_else(|| format!("{offset:#x}"), |i| self.0[i].1.clone())
        };
        offsets.iter().map(name).collect()
    }
}
