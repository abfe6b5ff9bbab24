//! English words brought to the form that they are inflected from: plurals of nouns, tenses of verbs.
//!
//! Endings are taken off by the steps 0, 1 and 5 of Porter's second stemmer, which deal with inflection (the others would
//! make one word of `organ` and `organization`); words that change otherwise are listed. Two words are forms of one when
//! what is left of them is the same. Source: Porter, "The English (Porter2) stemming algorithm".

/// The word that another one is a form of, or what is left of it; equal for all forms.
pub(crate) fn stem(word: &str) -> String {
    let word = word.strip_suffix("'s").or(word.strip_suffix('\'')).unwrap_or(word);
    let known = IRREGULAR.iter().find(|(_, forms)| forms.split(' ').any(|form| form == word));
    regular(known.map_or(word, |(base, _)| base))
}

fn regular(word: &str) -> String {
    let mut w: Vec<u8> = word.bytes().collect();
    if w.len() <= 2 || !w.iter().all(u8::is_ascii_lowercase) {
        return word.to_owned();
    }
    let r1 = region(&w, 0);
    plural(&mut w);
    past(&mut w, r1);
    if w.len() > 2 && w.ends_with(b"y") && !is_vowel(&w, w.len() - 2) {
        let last = w.len() - 1;
        w[last] = b'i';
    }
    if w.ends_with(b"e") {
        let (r1, r2) = (region(&w, 0), region(&w, region(&w, 0)));
        let before = w.len() - 1;
        if r2 <= before || (r1 <= before && !ends_short(&w[..before])) {
            w.pop();
        }
    }
    w.into_iter().map(char::from).collect()
}

fn is_vowel(w: &[u8], i: usize) -> bool {
    match w[i] {
        b'a' | b'e' | b'i' | b'o' | b'u' => true,
        // At the beginning and behind a vowel it is a consonant.
        b'y' => i > 0 && !matches!(w[i - 1], b'a' | b'e' | b'i' | b'o' | b'u'),
        _ => false,
    }
}

/// Behind the first consonant that follows a vowel, from a place on.
fn region(w: &[u8], from: usize) -> usize {
    (from + 1..w.len()).find(|i| !is_vowel(w, *i) && is_vowel(w, *i - 1)).map_or(w.len(), |i| i + 1)
}

/// Does it end in a short syllable: `hop`, `at`?
fn ends_short(w: &[u8]) -> bool {
    match w.len() {
        0 | 1 => false,
        2 => is_vowel(w, 0) && !is_vowel(w, 1),
        n => {
            !is_vowel(w, n - 3)
                && is_vowel(w, n - 2)
                && !is_vowel(w, n - 1)
                && !matches!(w[n - 1], b'w' | b'x' | b'y')
        }
    }
}

fn plural(w: &mut Vec<u8>) {
    let n = w.len();
    if w.ends_with(b"sses") {
        w.truncate(n - 2);
    } else if w.ends_with(b"ied") || w.ends_with(b"ies") {
        w.truncate(if n > 4 { n - 2 } else { n - 1 });
    } else if w.ends_with(b"us") || w.ends_with(b"ss") || !w.ends_with(b"s") {
        // As it is.
    } else if (0..n.saturating_sub(2)).any(|i| is_vowel(w, i)) {
        w.pop();
    }
}

fn past(w: &mut Vec<u8>, r1: usize) {
    let n = w.len();
    if w.ends_with(b"eed") {
        if n - 3 >= r1 {
            w.truncate(n - 1);
        }
        return;
    }
    let less = match () {
        _ if w.ends_with(b"ing") => 3,
        _ if w.ends_with(b"ed") => 2,
        _ => return,
    };
    if !(0..n - less).any(|i| is_vowel(w, i)) {
        return;
    }
    w.truncate(n - less);
    let n = w.len();
    let doubled = n >= 2 && w[n - 1] == w[n - 2] && b"bdfgmnprt".contains(&w[n - 1]);
    if w.ends_with(b"at") || w.ends_with(b"bl") || w.ends_with(b"iz") {
        w.push(b'e');
    } else if doubled {
        w.pop();
    } else if ends_short(w) && region(w, 0) >= n {
        w.push(b'e');
    }
}

/// Words, and their forms that no rule makes.
const IRREGULAR: &[(&str, &str)] = &[
    ("analysis", "analyses"),
    ("appendix", "appendices"),
    ("arise", "arose arisen"),
    ("axis", "axes"),
    ("basis", "bases"),
    ("crisis", "crises"),
    ("criterion", "criteria"),
    ("datum", "data"),
    ("hypothesis", "hypotheses"),
    ("index", "indices"),
    ("matrix", "matrices"),
    ("medium", "media"),
    ("phenomenon", "phenomena"),
    ("thesis", "theses"),
    ("vertex", "vertices"),
    ("be", "am is are was were been being"),
    ("bear", "bore borne"),
    ("beat", "beaten"),
    ("become", "became"),
    ("begin", "began begun"),
    ("bend", "bent"),
    ("bind", "bound"),
    ("bite", "bit bitten"),
    ("blow", "blew blown"),
    ("break", "broke broken"),
    ("bring", "brought"),
    ("build", "built"),
    ("burn", "burnt"),
    ("bus", "buses"),
    ("buy", "bought"),
    ("calf", "calves"),
    ("catch", "caught"),
    ("child", "children"),
    ("choose", "chose chosen"),
    ("cling", "clung"),
    ("come", "came"),
    ("creep", "crept"),
    ("deal", "dealt"),
    ("die", "dying"),
    ("dig", "dug"),
    ("do", "does did done"),
    ("draw", "drew drawn"),
    ("dream", "dreamt"),
    ("drink", "drank drunk"),
    ("drive", "drove driven"),
    ("eat", "ate eaten"),
    ("fall", "fell fallen"),
    ("feed", "fed"),
    ("feel", "felt"),
    ("fight", "fought"),
    ("find", "found"),
    ("flee", "fled"),
    ("fly", "flew flown"),
    ("foot", "feet"),
    ("forbid", "forbade forbidden"),
    ("forget", "forgot forgotten"),
    ("forgive", "forgave forgiven"),
    ("freeze", "froze frozen"),
    ("get", "got gotten"),
    ("give", "gave given"),
    ("go", "goes went gone"),
    ("goose", "geese"),
    ("grind", "ground"),
    ("grow", "grew grown"),
    ("half", "halves"),
    ("hang", "hung"),
    ("have", "has had"),
    ("hear", "heard"),
    ("hide", "hid hidden"),
    ("hold", "held"),
    ("keep", "kept"),
    ("kneel", "knelt"),
    ("knife", "knives"),
    ("know", "knew known"),
    ("lay", "laid"),
    ("lead", "led"),
    ("leaf", "leaves"),
    ("leap", "leapt"),
    ("learn", "learnt"),
    ("leave", "left"),
    ("lend", "lent"),
    ("lie", "lying lain"),
    ("life", "lives"),
    ("light", "lit"),
    ("lose", "lost"),
    ("make", "made"),
    ("man", "men"),
    ("mean", "meant"),
    ("meet", "met"),
    ("mouse", "mice"),
    ("ox", "oxen"),
    ("pay", "paid"),
    ("person", "people"),
    ("ride", "rode ridden"),
    ("ring", "rang rung"),
    ("rise", "rose risen"),
    ("run", "ran"),
    ("say", "said"),
    ("see", "saw seen"),
    ("seek", "sought"),
    ("sell", "sold"),
    ("send", "sent"),
    ("shake", "shook shaken"),
    ("shelf", "shelves"),
    ("shine", "shone"),
    ("shoot", "shot"),
    ("show", "shown"),
    ("shrink", "shrank shrunk"),
    ("sing", "sang sung"),
    ("sink", "sank sunk"),
    ("sit", "sat"),
    ("sleep", "slept"),
    ("slide", "slid"),
    ("speak", "spoke spoken"),
    ("spend", "spent"),
    ("spin", "spun"),
    ("spring", "sprang sprung"),
    ("stand", "stood"),
    ("steal", "stole stolen"),
    ("stick", "stuck"),
    ("sting", "stung"),
    ("strike", "struck stricken"),
    ("strive", "strove striven"),
    ("swear", "swore sworn"),
    ("sweep", "swept"),
    ("swim", "swam swum"),
    ("swing", "swung"),
    ("take", "took taken"),
    ("teach", "taught"),
    ("tear", "tore torn"),
    ("tell", "told"),
    ("think", "thought"),
    ("thief", "thieves"),
    ("throw", "threw thrown"),
    ("tie", "tying"),
    ("tooth", "teeth"),
    ("understand", "understood"),
    ("wake", "woke woken"),
    ("wear", "wore worn"),
    ("weave", "wove woven"),
    ("weep", "wept"),
    ("wife", "wives"),
    ("win", "won"),
    ("wind", "wound"),
    ("withdraw", "withdrew withdrawn"),
    ("wolf", "wolves"),
    ("woman", "women"),
    ("write", "wrote written"),
];

#[cfg(test)]
mod tests {
    use super::stem;

    #[test]
    fn forms_of_one_word_are_one() {
        for forms in [
            "drive drives drove driven driving",
            "ride rides riding rode ridden",
            "perform performs performed performing",
            "bike bikes biking biked bike's",
            "company companies company's",
            "compute computes computed computing",
            "hop hops hopped hopping",
            "hope hopes hoped hoping",
            "box boxes boxed boxing",
            "class classes",
            "church churches",
            "foot feet",
            "create creates created creating",
            "agree agreed agrees agreeing",
            "try tries tried trying",
            "run runs ran running",
            "study studies studied studying",
            "write writes wrote written writing",
            "move moves moved moving",
            "analysis analyses",
            "index indices",
            "datum data",
            "knife knives",
        ] {
            let mut words = forms.split(' ');
            let first = stem(words.next().unwrap_or(""));
            for word in words {
                assert_eq!(stem(word), first, "{word}");
            }
        }
        for (a, b) in [
            ("organ", "organization"),
            ("hop", "hope"),
            ("universe", "university"),
            ("bus", "bush"),
            ("happier", "happy"),
        ] {
            assert_ne!(stem(a), stem(b), "{a} {b}");
        }
    }
}
