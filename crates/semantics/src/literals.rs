//! Expressions as they are written that are constants by their look alone, before anything is bound: there is nothing to
//! order by in them (408, 5308, 5309).

use syntax::ast;

/// Literals, and what operators make of them.
pub fn is_constant(e: &ast::Expr) -> bool {
    match &e.kind {
        ast::ExprKind::Literal(_) => true,
        ast::ExprKind::Unary { expr, .. } => is_constant(expr),
        ast::ExprKind::Binary { left, right, .. } => is_constant(left) && is_constant(right),
        _ => false,
    }
}

/// The int that such a constant is.
pub fn whole(e: &ast::Expr) -> Option<i32> {
    match &e.kind {
        ast::ExprKind::Literal(ast::Literal::Int(n)) => Some(*n),
        ast::ExprKind::Unary { op: ast::UnaryOp::Plus, expr } => whole(expr),
        ast::ExprKind::Unary { op: ast::UnaryOp::Minus, expr } => whole(expr)?.checked_neg(),
        ast::ExprKind::Binary { op, left, right } => {
            let (left, right) = (whole(left)?, whole(right)?);
            match op {
                ast::BinaryOp::Add => left.checked_add(right),
                ast::BinaryOp::Sub => left.checked_sub(right),
                ast::BinaryOp::Mul => left.checked_mul(right),
                ast::BinaryOp::Div => left.checked_div(right),
                _ => None,
            }
        }
        _ => None,
    }
}
