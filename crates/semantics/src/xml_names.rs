//! Names of columns as names of elements and attributes of XML.
//!
//! Source: "Extensible Markup Language (XML) 1.0", production 5 (Name). Which characters are letters goes by
//! Unicode, as SQL Server takes them, and the colon is one that a name may have: a path says what it means.

fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':')
}

/// The first character that an XML name may not have there.
pub fn first_wrong(name: &str) -> Option<char> {
    match name.chars().next() {
        None => Some(' '),
        Some(c) if !is_name_start(c) => Some(c),
        _ => name.chars().find(|c| !is_name_char(*c)),
    }
}

/// A name as RAW and AUTO write it: what XML does not allow becomes `_x0020_`. The colon behind a declared prefix stays.
pub fn xml_name(name: &str, namespaces: &[(String, String)]) -> String {
    if let Some((prefix, local)) = name.split_once(':')
        && namespaces.iter().any(|(declared, _)| declared == prefix)
    {
        return format!("{prefix}:{}", xml_name(local, &[]));
    }
    let mut out = String::new();
    for (i, c) in name.chars().enumerate() {
        let good = if i == 0 { is_name_start(c) } else { is_name_char(c) };
        if good && c != ':' {
            out.push(c);
        } else {
            out.push_str(&format!("_x{:04X}_", c as u32));
        }
    }
    out
}
