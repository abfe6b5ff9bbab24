//! Words that are in every text: those of the system stoplist for English, as sys.fulltext_system_stopwords lists them,
//! and single digits and letters.

/// In alphabetical order.
const ENGLISH: &[&str] = &[
    "about", "after", "all", "also", "an", "and", "another", "any", "are", "as", "at", "be",
    "because", "been", "before", "being", "between", "both", "but", "by", "came", "can", "come",
    "could", "did", "do", "does", "each", "else", "for", "from", "get", "got", "had", "has",
    "have", "he", "her", "here", "him", "himself", "his", "how", "if", "in", "into", "is", "it",
    "its", "just", "like", "make", "many", "me", "might", "more", "most", "much", "must", "my",
    "never", "no", "now", "of", "on", "only", "or", "other", "our", "out", "over", "re", "said",
    "same", "see", "should", "since", "so", "some", "still", "such", "take", "than", "that", "the",
    "their", "them", "then", "there", "these", "they", "this", "those", "through", "to", "too",
    "under", "up", "use", "very", "want", "was", "way", "we", "well", "were", "what", "when",
    "where", "which", "while", "who", "will", "with", "would", "you", "your",
];

/// Those of English, then the digits and letters that are stopwords of every language.
pub fn system_stopwords() -> impl Iterator<Item = (String, bool)> {
    let single = ('0'..='9').chain('a'..='z').chain(['$']).map(|c| (c.to_string(), false));
    ENGLISH.iter().map(|word| (word.to_string(), true)).chain(single)
}

/// Is the word, in small letters, one of them?
pub(crate) fn is_stopword(word: &str, english: bool) -> bool {
    let mut chars = word.chars();
    if let (Some(c), None) = (chars.next(), chars.next()) {
        return c.is_ascii_alphanumeric();
    }
    english && ENGLISH.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_in_order() {
        assert!(ENGLISH.is_sorted());
        assert!(is_stopword("the", true) && !is_stopword("the", false));
        assert!(is_stopword("a", false) && !is_stopword("wine", true));
    }
}
