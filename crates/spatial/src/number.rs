//! Numbers as .NET writes them in texts that are read again (`R`): 15 digits where they suffice, else 17.

use std::fmt::Write;

/// Appends a number.
pub(crate) fn put(out: &mut String, number: f64) {
    if number == 0.0 {
        out.push('0');
        return;
    }
    let mut text = format!("{number:.14e}");
    if text.parse() != Ok(number) {
        text = format!("{number:.16e}");
    }
    let Some((digits, exponent)) = text.split_once('e') else { return out.push_str(&text) };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |rest| ("-", rest));
    let digits: String = digits.chars().filter(|c| *c != '.').collect();
    let digits = digits.trim_end_matches('0');
    out.push_str(sign);
    let point = |out: &mut String, before: usize| {
        out.push_str(&digits[..before]);
        if before < digits.len() {
            out.push('.');
            out.push_str(&digits[before..]);
        }
    };
    match exponent {
        0..15 => {
            let before = exponent as usize + 1;
            if before >= digits.len() {
                out.push_str(digits);
                out.extend(std::iter::repeat_n('0', before - digits.len()));
            } else {
                point(out, before);
            }
        }
        -4..0 => {
            out.push_str("0.");
            out.extend(std::iter::repeat_n('0', -exponent as usize - 1));
            out.push_str(digits);
        }
        _ => {
            point(out, 1);
            let sign = if exponent < 0 { '-' } else { '+' };
            // Writing into a text does not fail.
            let _ = write!(out, "E{sign}{:02}", exponent.unsigned_abs());
        }
    }
}

/// The text of a number.
pub fn text(number: f64) -> String {
    let mut out = String::new();
    put(&mut out, number);
    out
}
