//! Where a node is, as SQL Server's messages tell it, and what prefixes mean there.

use xml::{Document, Kind};

/// `/*:root[1]/*:a[2]/@*:b`
pub(crate) fn of(doc: &Document, id: u32) -> String {
    let mut steps = Vec::new();
    let mut at = Some(id);
    while let Some(node) = at {
        let parent = doc.parent(node);
        match doc.kind(node) {
            Kind::Element => {
                let local = doc.local(node);
                let siblings = parent.map(|parent| doc.children(parent));
                let before = siblings.into_iter().flatten().take_while(|other| *other <= node);
                let same = before
                    .filter(|n| doc.kind(*n) == Kind::Element && doc.local(*n) == local)
                    .count();
                steps.push(format!("/*:{local}[{same}]"));
            }
            Kind::Attribute => steps.push(format!("/@*:{}", doc.local(node))),
            _ => {}
        }
        at = parent;
    }
    if steps.is_empty() {
        return "/".into();
    }
    steps.reverse();
    steps.concat()
}

/// The namespace that a prefix stands for at a node; the empty one for no prefix and no default.
pub(crate) fn namespace(doc: &Document, id: u32, prefix: &str) -> Option<String> {
    if prefix == "xml" {
        return Some("http://www.w3.org/XML/1998/namespace".into());
    }
    let mut at = Some(id);
    while let Some(node) = at {
        if doc.kind(node) == Kind::Element
            && let Some(found) = doc.namespaces(node).find(|n| doc.local(*n) == prefix)
        {
            return Some(doc.content(found).to_owned());
        }
        at = doc.parent(node);
    }
    prefix.is_empty().then(String::new)
}
