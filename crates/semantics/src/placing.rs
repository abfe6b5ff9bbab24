//! What is around an expression, for what may stand only where it is plain how often it is evaluated.

use syntax::ast;

/// What there is around an expression that may ask for a number.
#[derive(Debug, Clone, Copy, Default)]
pub struct Placing {
    /// Queries open now; what stands in a FROM, a view or a subquery is in one more than its statement's.
    pub queries: u32,
    /// DISTINCT, UNION and its like.
    pub distinct: bool,
    pub ordered: bool,
    /// TOP, OFFSET.
    pub cut: bool,
    /// In a CASE or a function that is one by another name.
    pub conditional: bool,
    /// In a clause of MERGE.
    pub merge: bool,
    /// In the definition of a check constraint or a computed column.
    pub defining: bool,
}

impl Placing {
    /// What a query says of its own.
    pub fn of(query: &ast::Query, around: Placing) -> Placing {
        let mut own = Placing {
            queries: around.queries + 1,
            ordered: !query.order_by.is_empty(),
            cut: query.offset.is_some() || query.fetch.is_some(),
            ..Placing::default()
        };
        let mut body = &query.body;
        while let ast::QueryBody::Nested(inner) = body {
            body = inner;
        }
        match body {
            ast::QueryBody::Select(select) => {
                own.distinct = select.distinct;
                own.cut |= select.top.is_some();
            }
            ast::QueryBody::SetOperation { .. } => own.distinct = true,
            _ => {}
        }
        own
    }
}
