//! Whether two engines' answers to a query of TPC-DS are one.
//!
//! Numbers are the same within what a quotient loses that T-SQL cuts after six digits and that is multiplied by 100
//! afterwards; texts are the same but for blanks, as a `char` carries its padding into what it is put together with. Rows
//! whose order the query leaves open may come in any, so an answer whose rows come in another order is compared as a bag;
//! which of them TOP lets pass is told by the caller, who compares what there is without TOP.

use std::cmp::Ordering;

type Row = Vec<String>;

fn rows(answer: &str) -> Vec<Row> {
    answer.lines().map(|line| line.split('\t').map(plain).collect()).collect()
}

fn plain(cell: &str) -> String {
    let words: Vec<&str> = cell.split_whitespace().collect();
    words.join(" ").replace(" ,", ",")
}

fn number(cell: &str) -> Option<f64> {
    // A code of digits is a text.
    let padded = cell.len() > 1 && cell.starts_with('0') && !cell.starts_with("0.");
    if padded { None } else { cell.parse().ok() }
}

fn cells_agree(a: &str, b: &str, slack: f64) -> bool {
    match (number(a), number(b)) {
        (Some(a), Some(b)) => (a - b).abs() <= slack + 1.001e-4_f64.max(a.abs() * 1e-9),
        _ => a == b,
    }
}

fn rows_agree(a: &Row, b: &Row, slack: f64) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| cells_agree(a, b, slack))
}

/// An order in which rows that agree stand at the same place, but for numbers that differ in the third digit behind the
/// point and no more.
fn order(a: &Row, b: &Row) -> Ordering {
    let key = |cell: &str| match number(cell) {
        Some(n) => (String::new(), (n * 1e3).round() as i64),
        None => (cell.to_owned(), 0),
    };
    a.iter().zip(b).map(|(a, b)| key(a).cmp(&key(b))).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
}

/// Whether the rows are the same, in the same order or in another; numbers may differ by a slack more than is said above.
pub fn same(ours: &str, theirs: &str, slack: f64) -> Result<(), String> {
    let (mut ours, mut theirs) = (rows(ours), rows(theirs));
    if ours.len() != theirs.len() {
        return Err(format!("{} rows and {}", ours.len(), theirs.len()));
    }
    let agree = |a: &[Row], b: &[Row]| a.iter().zip(b).all(|(a, b)| rows_agree(a, b, slack));
    if agree(&ours, &theirs) {
        return Ok(());
    }
    ours.sort_by(order);
    theirs.sort_by(order);
    let odd = ours.iter().zip(&theirs).find(|(a, b)| !rows_agree(a, b, slack));
    odd.map_or(Ok(()), |(a, b)| Err(format!("`{}` and `{}`", a.join(" | "), b.join(" | "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_and_last_digits_are_open_and_values_are_not() {
        assert!(same("a\t1.50\nb\t2", "b\t2\na \t1.50001", 0.0).is_ok());
        assert!(same("a\t1.50", "a\t1.51", 0.0).is_err());
        assert!(same("a\tNULL", "a\tNULL", 0.0).is_ok());
        assert!(same("NULL", "", 0.0).is_err());
        assert!(same("x   , y", "x, y", 0.0).is_ok());
        assert!(same("01", "1", 0.0).is_err());
        assert!(same("a\nb", "a\na", 0.0).is_err());
    }
}
