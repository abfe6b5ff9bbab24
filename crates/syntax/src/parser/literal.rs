//! Constants.

use super::*;

impl Parser<'_> {
    /// A constant without sign.
    #[inline(never)]
    pub(super) fn literal(&mut self) -> ParseResult<Literal> {
        let token = self.token();
        let text = self.token_text(token);
        let literal = match token.kind {
            TokenKind::Integer => {
                let digits = text.trim_start_matches('0');
                match digits.parse::<i32>() {
                    Ok(number) => Literal::Int(number),
                    Err(_) if digits.is_empty() => Literal::Int(0),
                    Err(_) => self.decimal(digits)?,
                }
            }
            TokenKind::Decimal => self.decimal(text)?,
            TokenKind::Float => {
                let digits = text.trim_end_matches(['e', 'E', '+', '-']);
                match digits.parse::<f64>() {
                    Ok(number) if number.is_finite() => Literal::Float(number),
                    _ => {
                        return Err(self.mistake(
                            168,
                            format!(
                                "The floating point value '{text}' is out of the range of computer representation (8 bytes)."
                            ),
                        ));
                    }
                }
            }
            TokenKind::Money => {
                let digits = text.trim_start_matches(stdx::is_currency_sign);
                let digits = digits.trim_start_matches([' ', '\t']);
                Literal::Money(if digits.is_empty() { "0".into() } else { digits.into() })
            }
            TokenKind::Binary => Literal::Binary(bytes_of_hex(&text[2..])),
            TokenKind::Key(Kw::Null) => Literal::Null,
            _ if self.at_string() => Literal::String {
                value: self.token_value(token),
                national: token.kind == TokenKind::NationalString,
            },
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        Ok(literal)
    }

    fn decimal(&self, text: &str) -> ParseResult<Literal> {
        let significant = text.trim_start_matches('0').bytes().filter(u8::is_ascii_digit).count();
        if significant > 38 {
            return Err(self.mistake(
                1007,
                format!(
                    "The number '{text}' is out of the range for numeric representation (maximum precision 38)."
                ),
            ));
        }
        Ok(Literal::Decimal(text.to_string()))
    }

    /// A constant, perhaps with a sign, as an expression.
    pub(super) fn signed_literal(&mut self) -> ParseResult<Expr> {
        let start = self.at;
        let sign = match self.kind() {
            TokenKind::Symbol(Sym::Minus) => Some(UnaryOp::Minus),
            TokenKind::Symbol(Sym::Plus) => Some(UnaryOp::Plus),
            _ => None,
        };
        if sign.is_some() {
            self.at += 1;
        }
        let inner = self.at;
        let kind = ExprKind::Literal(self.literal()?);
        let expr = Expr::new(kind, self.span_from(inner));
        Ok(match sign {
            Some(op) => {
                Expr::new(ExprKind::Unary { op, expr: Box::new(expr) }, self.span_from(start))
            }
            None => expr,
        })
    }
}

/// An odd digit stands alone in the first byte.
fn bytes_of_hex(digits: &str) -> Vec<u8> {
    let nibble = |byte: u8| (byte as char).to_digit(16).unwrap_or(0) as u8;
    // Without line continuations.
    let digits: Vec<u8> = digits.bytes().filter(u8::is_ascii_hexdigit).collect();
    let (head, rest) = digits.split_at(digits.len() % 2);
    let mut bytes: Vec<u8> = head.iter().map(|digit| nibble(*digit)).collect();
    bytes.extend(rest.chunks_exact(2).map(|pair| nibble(pair[0]) << 4 | nibble(pair[1])));
    bytes
}
