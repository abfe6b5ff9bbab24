//! Conditions, and the texts that fit them: what the documentation of each form says of its examples.

use crate::{ConditionError, Options, Search};

const ENGLISH: Options = Options { english: true, stopwords: true, accents: true };

fn has(text: &str, condition: &str) -> bool {
    let search =
        Search::contains(condition, ENGLISH).unwrap_or_else(|e| panic!("{condition}: {e}"));
    search.rank(text).expect("not stopped").is_some()
}

#[test]
fn words_and_phrases() {
    let text =
        "Where is my computer? Failure to find it would be expensive; O'Neil paid 1,000.50 for it.";
    for yes in [
        "computer",
        "COMPUTER",
        "\"computer failure\"",
        "\"comp*\"",
        "\"comp* fail*\"",
        "computer AND failure",
        "computer & expensive",
        "nothing OR failure",
        "nothing | failure",
        "computer AND NOT nothing",
        "computer &! nothing",
        "(nothing OR computer) AND expensive",
        "nothing AND nothing OR computer",
        "o'neil",
        "\"1,000.50\"",
        "\"failure to find\"",
        "computer*",
        "the OR computer",
    ] {
        assert!(has(text, yes), "{yes}");
    }
    for no in [
        "nothing",
        "comp",
        "\"failure computer\"",
        "computer AND nothing",
        "computer AND NOT failure",
        "the",
        "the AND computer",
        "computer AND NOT the",
        "comp*",
        "neil",
    ] {
        assert!(!has(text, no), "{no}");
    }
}

#[test]
fn stopwords_keep_their_places() {
    assert!(has("cats and dogs", "\"cats and dogs\""));
    assert!(has("cats or dogs", "\"cats and dogs\""));
    assert!(!has("cats dogs", "\"cats and dogs\""));
    let all = Options { stopwords: false, ..ENGLISH };
    let search = Search::contains("the", all).expect("a condition");
    assert!(search.rank("the cat").expect("not stopped").is_some() && !search.is_noisy());
    assert!(Search::contains("the OR cat", ENGLISH).expect("a condition").is_noisy());
}

#[test]
fn close_words() {
    assert!(has("John Jacob Smith", "NEAR((John, Smith), 2)"));
    assert!(has("Smith, John", "NEAR((John, Smith), 2)"));
    assert!(!has("John Jones knows Fred Smith", "NEAR((John, Smith), 2)"));
    assert!(has("John Jacob Smith", "NEAR((John, Smith), 2, TRUE)"));
    assert!(!has("Smith, John", "NEAR((John, Smith), 2, TRUE)"));
    let mice = "NEAR((dogs, cats, \"hunting mice\"), 3)";
    assert!(has("Cats enjoy hunting mice, but avoid dogs.", mice));
    assert!(!has("Cats enjoy hunting mice, but usually avoid dogs.", mice));
    assert!(has("BB one two CC three four five AA", "NEAR((AA,BB,CC),5)"));
    assert!(has("AA one two three four five BB", "NEAR((AA,BB),5)"));
    assert!(!has("AA one two three four five six BB", "NEAR((AA,BB),5)"));
    let week = "NEAR ((Monday, Tuesday, Wednesday), MAX, TRUE)";
    assert!(has("monday or tuesday, then wednesday", week));
    assert!(!has("monday, wednesday, tuesday", week));
    assert!(has("fox here, chicken there", "fox NEAR chicken"));
    assert!(has("fox here, chicken there", "chicken ~ fox"));
    assert!(has("comfort and comfortable", "NEAR((\"comfort*\", comfortable), 5)"));
    assert!(!has("only comfortable", "NEAR((\"comfort*\", comfortable), 5)"));
    assert!(!has("fox", "NEAR(fox, chicken)"));
}

#[test]
fn forms_and_weights() {
    for text in ["he rides", "riding on", "ridden before", "rode home", "a ride"] {
        assert!(has(text, "FORMSOF (INFLECTIONAL, ride)"), "{text}");
        assert!(
            Search::freetext("ride", ENGLISH).rank(text).expect("not stopped").is_some(),
            "{text}"
        );
    }
    assert!(!has("he rides", "FORMSOF (THESAURUS, ride)"));
    let ask = "ISABOUT (performance weight (.8), comfortable weight (.4), smooth weight (.2) )";
    let rank = |text: &str| {
        Search::contains(ask, ENGLISH).expect("a condition").rank(text).expect("not stopped")
    };
    assert!(rank("performance") > rank("smooth"));
    assert_eq!(rank("slow"), None);
    let or = Search::contains("Green or Black", ENGLISH).expect("a condition");
    let flags = ["Green and White and Red", "Green and Yellow and Black and Yellow and Blue"];
    let [italy, tanzania] = flags.map(|flag| or.rank(flag).expect("not stopped"));
    assert!(tanzania > italy);
}

#[test]
fn what_is_wrong_is_named() {
    for (condition, near) in [
        ("dog cat", "cat"),
        ("dog AND", "<end of input>"),
        ("\"dog\" NEAR", "<end of input>"),
        ("NOT dog", "dog"),
        ("dog AND AND cat", "cat"),
        ("dog OR NOT cat", "cat"),
        ("(dog", "<end of input>"),
        ("dog)", ")"),
        ("ISABOUT()", ")"),
        ("\"dog", "\""),
        ("NEAR(dog)", ")"),
        ("FORMSOF(cat)", "cat"),
        ("ISABOUT(dog WEIGHT(x))", "x"),
    ] {
        let found = Search::contains(condition, ENGLISH).err();
        assert_eq!(found, Some(ConditionError::Syntax(near.to_owned())), "{condition}");
    }
    let found = Search::contains("NEAR((dog, cat), near)", ENGLISH).err();
    assert_eq!(found, Some(ConditionError::Distance));
    let found = Search::contains("ISABOUT(dog WEIGHT(1.5))", ENGLISH).err();
    assert_eq!(found, Some(ConditionError::Weight));
    assert!(Search::contains(&"(".repeat(100_000), ENGLISH).is_err());
}

#[test]
fn accents_count_or_not() {
    let no = Options { accents: false, ..ENGLISH };
    assert!(
        Search::contains("cafe", no)
            .expect("a condition")
            .rank("Caf\u{e9}")
            .expect("not stopped")
            .is_some()
    );
    assert!(!has("Caf\u{e9}", "cafe"));
    assert!(has("\u{6771}\u{4eac}\u{90fd}", "\"\u{6771}\u{4eac}\""));
}
