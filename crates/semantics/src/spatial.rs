//! CREATE SPATIAL INDEX: what it asks for is looked at and kept; the index has no entries.
//!
//! Numbers and texts: SQL Server's messages 12002 to 12013. Source: SQL documentation, "CREATE SPATIAL INDEX".

use crate::error::{BindError, Result};
use catalog::{IndexSpec, SpatialIndex, TableDef, Tessellation};
use syntax::ast::{self, ExprKind, Literal};
use types::SqlType;

const WHAT: &str = "SPATIAL INDEX";

/// The most CELLS_PER_OBJECT.
const CELLS_MAX: i64 = 8192;

/// What an index of `table` is asked for; `spec` has the options that every index has.
pub fn spec(
    index: &ast::IndexDefinition,
    asked: &ast::SpatialIndex,
    table: &TableDef,
    spec: IndexSpec,
) -> Result<IndexSpec> {
    let line = index.span.line.max(1);
    let fail = |number: i32, text: String| BindError::new(number, 16, line, text);
    let Some(column) = index.columns.first() else {
        return Err(fail(12005, incorrect("(")));
    };
    let name = &column.name.value;
    let Some(ordinal) = table.column(name) else {
        let text = format!("Column name '{name}' does not exist in the target table or view.");
        return Err(fail(1911, text));
    };
    let SqlType::Clr(ty) = table.columns[ordinal].ty else {
        return Err(not_spatial(table, name, line));
    };
    if !ty.is_spatial() {
        return Err(not_spatial(table, name, line));
    }
    let has_key = table.primary_key.as_ref().is_some_and(|key| key.clustered);
    if !has_key {
        return Err(fail(
            12008,
            format!(
                "Table '{}' does not have a clustered primary key as required by the spatial index. Make sure that the \
                 primary key column exists on the table before creating a spatial index.",
                table.name
            ),
        ));
    }
    let is_geography = ty.name() == "geography";
    let scheme = match &asked.scheme {
        None if is_geography => Tessellation::GeographyAutoGrid,
        None => Tessellation::GeometryAutoGrid,
        Some(word) => {
            let found = Tessellation::ALL.into_iter().find(|s| word.is(s.name()));
            found.filter(|s| s.is_geography() == is_geography).ok_or_else(|| {
                fail(
                    12003,
                    format!(
                        "Could not find spatial tessellation scheme '{}' for column of type {}. Specify a valid \
                         tessellation scheme name in your USING clause.",
                        word.value,
                        ty.name()
                    ),
                )
            })?
        }
    };
    if asked.bounding_box.len() > 1 || asked.grids.len() > 1 || asked.cells.len() > 1 {
        let text = "Duplicate parameters were passed to the create index statement. Validate the statement against the \
                    index-creation syntax.";
        return Err(fail(12006, text.to_owned()));
    }
    let bounding_box = match asked.bounding_box.first() {
        Some(_) if is_geography => return Err(fail(12005, incorrect("BOUNDING_BOX"))),
        Some(edges) => Some(edges_of(edges, line)?),
        None if is_geography => None,
        None => {
            let text = format!(
                "The CREATE {WHAT} statement is missing the required parameter 'BOUNDING_BOX'. Validate the statement \
                 against the index-creation syntax."
            );
            return Err(fail(12007, text));
        }
    };
    let grids = match asked.grids.first() {
        Some(_) if scheme.is_auto() => return Err(fail(12005, incorrect("GRIDS"))),
        Some(levels) => levels_of(levels, line)?,
        None if scheme.is_auto() => [0; 4],
        None => [MEDIUM; 4],
    };
    let cells = match asked.cells.first().map(whole) {
        None => scheme.default_cells(),
        Some(Some(n)) if n > CELLS_MAX => {
            let text = format!(
                "The value of parameter 'CELLS_PER_OBJECT' of CREATE {WHAT} must be less than {CELLS_MAX}."
            );
            return Err(fail(12011, text));
        }
        Some(Some(n)) if n >= 1 => n as u16,
        Some(_) => {
            let text = format!(
                "The value of parameter 'CELLS_PER_OBJECT' of CREATE {WHAT} must be greater than 0."
            );
            return Err(fail(12012, text));
        }
    };
    let spatial = SpatialIndex { scheme, bounding_box, grids, cells, is_off: false };
    Ok(IndexSpec {
        columns: Vec::new(),
        include: vec![name.as_str().into()],
        spatial: Some(spatial),
        ..spec
    })
}

/// 12002.
fn not_spatial(table: &TableDef, column: &str, line: u32) -> BindError {
    let text = format!(
        "The requested spatial index on column '{column}' of table '{}' could not be created because the column type is \
         not geometry or geography . Specify a column name that refers to a column with a geometry or geography data type.",
        table.name
    );
    BindError::new(12002, 16, line, text)
}

/// 12005.
fn incorrect(near: &str) -> String {
    format!(
        "Incorrect parameters were passed to the CREATE {WHAT} statement near '{near}'. Validate the statement against the \
         index-creation syntax."
    )
}

fn number(e: &ast::Expr) -> Option<f64> {
    match &e.kind {
        ExprKind::Literal(Literal::Int(n)) => Some(f64::from(*n)),
        ExprKind::Literal(Literal::Float(n)) => Some(*n),
        ExprKind::Literal(Literal::Decimal(text)) => text.parse().ok(),
        ExprKind::Unary { op: ast::UnaryOp::Minus, expr } => number(expr).map(|n| -n),
        ExprKind::Unary { op: ast::UnaryOp::Plus, expr } => number(expr),
        _ => None,
    }
}

fn whole(e: &ast::Expr) -> Option<i64> {
    number(e).filter(|n| n.fract() == 0.0).map(|n| n as i64)
}

/// 12005, 12013, 12014.
fn edges_of(edges: &[(Option<String>, ast::Expr)], line: u32) -> Result<[f64; 4]> {
    const NAMES: [&str; 4] = ["XMIN", "YMIN", "XMAX", "YMAX"];
    let fail = |number: i32, text: String| BindError::new(number, 16, line, text);
    let mut found = [None; 4];
    for (at, (name, edge)) in edges.iter().enumerate() {
        let place = match name {
            Some(name) => NAMES.iter().position(|known| known == name),
            None => Some(at),
        };
        let Some(slot) = place.and_then(|place| found.get_mut(place)) else {
            return Err(fail(12005, incorrect("BOUNDING_BOX")));
        };
        *slot = number(edge);
    }
    let [Some(left), Some(low), Some(right), Some(high)] = found else {
        let text = format!(
            "The 'BOUNDING_BOX' parameter of CREATE {WHAT} is incompletely defined. If the parameter has more than one \
             part, all the parts must be defined."
        );
        return Err(fail(12014, text));
    };
    for (least, most, at) in [(left, right, 0), (low, high, 1)] {
        if most <= least {
            let text = format!(
                "The value of parameter '{}' of CREATE {WHAT} must be greater than the value of parameter '{}'.",
                NAMES[at + 2].to_lowercase(),
                NAMES[at].to_lowercase()
            );
            return Err(fail(12013, text));
        }
    }
    Ok([left, low, right, high])
}

const MEDIUM: u8 = 2;

/// 12005, 12014. By name some may be left out, by place none.
fn levels_of(levels: &[(Option<String>, String)], line: u32) -> Result<[u8; 4]> {
    const NAMES: [&str; 4] = ["LEVEL_1", "LEVEL_2", "LEVEL_3", "LEVEL_4"];
    let fail = || BindError::new(12005, 16, line, incorrect("GRIDS"));
    let mut found = [MEDIUM; 4];
    let is_named = levels.first().is_some_and(|(name, _)| name.is_some());
    if !is_named && levels.len() != 4 {
        return Err(fail());
    }
    for (at, (name, density)) in levels.iter().enumerate() {
        let place = match name {
            Some(name) => NAMES.iter().position(|known| known == name),
            None => Some(at),
        };
        let density = ["LOW", "MEDIUM", "HIGH"].iter().position(|known| known == density);
        match (place.and_then(|place| found.get_mut(place)), density) {
            (Some(slot), Some(density)) if name.is_some() == is_named => *slot = density as u8 + 1,
            _ => return Err(fail()),
        }
    }
    Ok(found)
}
