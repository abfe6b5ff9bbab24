//! JSON_MODIFY: one place changed, every other byte as it was.

use crate::{JsonError, Kind, Node, Path, Step, check, find, quote_into};

/// The text with the value at the path replaced by `new` (JSON as it will stand there), or removed when `new` is `None`.
/// Lax: a member that is not there is added to its object, an element right behind the last one to its array; what has
/// nowhere to go changes nothing; removing an element of an array leaves null. Strict: what is not there is 13608, and
/// NULL is set as null. With `append` the value goes behind the last element of the array at the path (strict: 13621 if it
/// is no array). The whole text (`$` without `append`) is 13619.
///
/// Source: SQL documentation, JSON_MODIFY.
pub fn modify(text: &str, path: &Path, new: Option<&str>) -> Result<String, JsonError> {
    check(text)?;
    let new_text = new.unwrap_or("null");
    if path.append {
        let target = find(text, &Path { strict: false, ..path.clone() })?;
        return match target {
            Some(node) if node.kind == Kind::Array => {
                let empty = node.members()?.is_empty();
                let at = node.end - 1;
                let comma = if empty { "" } else { "," };
                Ok(format!("{}{comma}{new_text}{}", &text[..at], &text[at..]))
            }
            None if !path.strict => {
                let array = format!("[{new_text}]");
                add(text, path, &array)
            }
            None => Err(JsonError::NotFound),
            Some(_) if path.strict => Err(JsonError::NotAnArray),
            _ => Ok(text.to_owned()),
        };
    }
    if path.steps.is_empty() {
        return Err(JsonError::Root);
    }
    let found = find(text, &Path { strict: false, ..path.clone() })?;
    match found {
        Some(node) if new.is_none() && !path.strict => match path.steps.last() {
            Some(Step::Name(_)) => Ok(without(text, path, node)?),
            _ => Ok(replaced(text, node, "null")),
        },
        Some(node) => Ok(replaced(text, node, new_text)),
        None if path.strict => Err(JsonError::NotFound),
        None if new.is_none() => Ok(text.to_owned()),
        None => add(text, path, new_text),
    }
}

fn replaced(text: &str, node: Node<'_>, new: &str) -> String {
    format!("{}{new}{}", &text[..node.start], &text[node.end..])
}

/// The text with a member or element added to the container that the path's last step lies in.
fn add(text: &str, path: &Path, new: &str) -> Result<String, JsonError> {
    let Some((last, before)) = path.steps.split_last() else { return Ok(text.to_owned()) };
    let parent = Path { steps: before.to_vec(), ..Path::default() };
    let Some(parent) = find(text, &parent)? else { return Ok(text.to_owned()) };
    let members = parent.members()?;
    let mut piece = String::new();
    match (last, parent.kind) {
        (Step::Name(name), Kind::Object) => {
            quote_into(name, &mut piece);
            piece.push(':');
        }
        (Step::Index(index), Kind::Array) if *index == members.len() => {}
        _ => return Ok(text.to_owned()),
    }
    piece.push_str(new);
    let at = parent.end - 1;
    let comma = if members.is_empty() { "" } else { "," };
    Ok(format!("{}{comma}{piece}{}", &text[..at], &text[at..]))
}

/// The text without a member of an object and one of the commas beside it.
fn without(text: &str, path: &Path, node: Node<'_>) -> Result<String, JsonError> {
    let (_, before) = path.steps.split_last().expect("a member has a name");
    let parent = Path { steps: before.to_vec(), ..Path::default() };
    let parent = find(text, &parent)?.expect("a member has an object around it");
    let members = parent.members()?;
    let place = members.iter().position(|(_, n)| n.start == node.start).unwrap_or(0);
    let open = parent.start + 1;
    let (from, to) = match (place, members.get(place + 1)) {
        // The name begins behind the brace, or behind the comma after the member before it.
        (0, None) => (open, parent.end - 1),
        (0, Some((_, next))) => (open, name_start(text, node.end, next.start)),
        (place, _) => (members[place - 1].1.end, node.end),
    };
    Ok(format!("{}{}", &text[..from], &text[to..]))
}

/// Where the name of the next member begins: the first quote behind the comma.
fn name_start(text: &str, from: usize, to: usize) -> usize {
    text[from..to].find('"').map_or(to, |at| from + at)
}
