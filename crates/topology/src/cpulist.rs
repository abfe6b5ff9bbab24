//! The kernel's lists of numbers: `0-3,8,10-11`.

/// The numbers of a list, in its order; `None` if it is malformed. Empty text is an empty list.
pub fn parse_cpulist(text: &str) -> Option<Vec<usize>> {
    let text = text.trim();
    if text.is_empty() {
        return Some(Vec::new());
    }
    let mut all = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if last < first || last - first > 1 << 16 {
            return None;
        }
        all.extend(first..=last);
    }
    Some(all)
}

/// Ascending numbers as such a list; `-` if there are none.
pub fn format_cpulist(numbers: &[usize]) -> String {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b).map(|run| match run {
        [one] => one.to_string(),
        [first, .., last] => format!("{first}-{last}"),
        [] => String::new(),
    });
    let text = runs.collect::<Vec<_>>().join(",");
    if text.is_empty() { "-".to_owned() } else { text }
}
