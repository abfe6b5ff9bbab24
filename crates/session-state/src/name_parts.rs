//! Names written as text, apart.

/// A name's parts, without brackets and quotes; a closing bracket or quote inside is written twice.
pub fn name_parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quote = None;
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        let mut push = |c| parts.last_mut().into_iter().for_each(|part: &mut String| part.push(c));
        match (quote, c) {
            (None, '[') => quote = Some(']'),
            (None, '"') => quote = Some('"'),
            (Some(end), c) if c == end && chars.peek() == Some(&end) => {
                chars.next();
                push(end);
            }
            (Some(end), c) if c == end => quote = None,
            (None, '.') => parts.push(String::new()),
            (_, c) => push(c),
        }
    }
    parts.iter().map(|part| part.trim().to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::name_parts;

    #[test]
    fn names_come_apart() {
        assert_eq!(name_parts("dbo.t"), ["dbo", "t"]);
        assert_eq!(name_parts("[d.b].[dbo].\"t\""), ["d.b", "dbo", "t"]);
        assert_eq!(name_parts("d..t"), ["d", "", "t"]);
        assert_eq!(name_parts("[a]]b].\"c\"\"d\""), ["a]b", "c\"d"]);
    }
}
