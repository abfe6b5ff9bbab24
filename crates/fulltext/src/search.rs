//! A condition that is asked of texts.

use crate::condition::{Condition, ConditionError, Options, Phrase, Word};
use crate::forms::stem;
use crate::near::{self, Span};
use crate::parse::Parser;
use crate::words::Words;
use runtime::task::{Breath, Stopped};
use std::collections::HashMap;

/// A search condition, read.
#[derive(Debug)]
pub struct Search {
    condition: Condition,
    options: Options,
    /// Numbers of the words that are looked for: those that are as they stand, those of which others are forms, the
    /// beginnings.
    exact: HashMap<String, usize>,
    forms: HashMap<String, usize>,
    beginnings: Vec<(String, usize)>,
    count: usize,
    is_noisy: bool,
}

/// The best rank.
const RANK_MAX: f64 = 1000.0;
/// What a rank takes for the rarity of a word, which only an index knows.
const WEIGHT: f64 = 16.0;
/// Lengths of texts, in words, that are told apart in ranks.
const LENGTHS: &[u32] = &[
    16, 32, 128, 256, 512, 725, 1024, 1450, 2048, 2896, 4096, 5792, 8192, 11585, 16384, 23170,
    28000, 32768, 39554, 46340, 55938, 65536, 92681, 131072, 185363, 262144, 370727, 524288,
    741455, 1048576, 2097152, 4194304,
];

/// What a text has of what is looked for.
struct Found<'s> {
    search: &'s Search,
    /// Of each word its places, from the first of the text.
    places: Vec<Vec<u32>>,
    /// As ranks count the text's words.
    length: f64,
}

impl Search {
    /// The condition of CONTAINS.
    pub fn contains(condition: &str, options: Options) -> Result<Search, ConditionError> {
        let mut parser = Parser::new(condition, options)?;
        let made = parser.contains()?;
        Ok(Search::of(parser, made, options))
    }

    /// The text of FREETEXT.
    pub fn freetext(text: &str, options: Options) -> Search {
        let mut parser = Parser::of_text(text, options);
        let made = parser.freetext();
        Search::of(parser, made, options)
    }

    fn of(parser: Parser<'_>, condition: Condition, options: Options) -> Search {
        let (mut exact, mut forms, mut beginnings) = (HashMap::new(), HashMap::new(), Vec::new());
        let (count, is_noisy) = (parser.words.len(), parser.is_noisy);
        for (number, word) in parser.words.into_iter().enumerate() {
            match word {
                Word::Is(word) => {
                    exact.insert(word, number);
                }
                Word::FormOf(word) => {
                    forms.insert(word, number);
                }
                Word::Begins(word) => beginnings.push((word, number)),
            }
        }
        Search { condition, options, exact, forms, beginnings, count, is_noisy }
    }

    /// Is there a term in it of stopwords alone?
    pub fn is_noisy(&self) -> bool {
        self.is_noisy
    }

    /// How well a text fits, from 0 to 1000; `None` where it does not.
    pub fn rank(&self, text: &str) -> Result<Option<u32>, Stopped> {
        let mut places = vec![Vec::new(); self.count];
        let mut words = Words::new(text, self.options.accents);
        let (mut word, mut place) = (String::new(), 0);
        let mut breath = Breath::new();
        while words.next(&mut word) {
            breath.steps(4 + self.beginnings.len())?;
            if let Some(number) = self.exact.get(&word) {
                places[*number].push(place);
            }
            if !self.forms.is_empty()
                && let Some(number) = self.forms.get(&stem(&word))
            {
                places[*number].push(place);
            }
            for (beginning, number) in &self.beginnings {
                if word.starts_with(beginning.as_str()) {
                    places[*number].push(place);
                }
            }
            place += 1;
        }
        let at = LENGTHS.partition_point(|length| *length < place);
        let length = f64::from(*LENGTHS.get(at).unwrap_or(&LENGTHS[LENGTHS.len() - 1]));
        let found = Found { search: self, places, length };
        let rank = found.rank(&found.search.condition)?;
        Ok(rank.map(|rank| rank.clamp(0.0, RANK_MAX) as u32))
    }
}

impl Found<'_> {
    fn rank(&self, condition: &Condition) -> Result<Option<f64>, Stopped> {
        runtime::task::stepped();
        Ok(match condition {
            Condition::Phrase(phrase) => {
                let hits = self.spans(phrase)?.len();
                (hits > 0).then(|| self.of_hits(hits as f64))
            }
            Condition::Near(near) => {
                let mut places = Vec::with_capacity(near.phrases.len());
                for phrase in &near.phrases {
                    places.push(self.spans(phrase)?);
                }
                let mut hits = near::hits(near, &places)?;
                // In no order and at any distance it is enough that all are there.
                let free = near.distance.is_none() && !near.is_ordered;
                let there = !hits.is_empty() || free && places.iter().all(|p| !p.is_empty());
                hits.retain(|distance| *distance <= near.rank_distance);
                let sum: f64 = hits.iter().map(|d| WEIGHT / (WEIGHT + f64::from(*d))).sum();
                there.then(|| self.of_hits(sum))
            }
            // What is of stopwords alone takes the whole with it, even where it is not wanted.
            Condition::And(_, no) if no.iter().any(Condition::is_noise) => None,
            Condition::And(yes, no) => {
                for condition in no {
                    if self.rank(condition)?.is_some() {
                        return Ok(None);
                    }
                }
                let mut least = RANK_MAX;
                for condition in yes {
                    match self.rank(condition)? {
                        Some(rank) => least = least.min(rank),
                        None => return Ok(None),
                    }
                }
                Some(least)
            }
            Condition::Or(list) => {
                let mut sum = None;
                for condition in list {
                    if let Some(rank) = self.rank(condition)? {
                        sum = Some(sum.unwrap_or(0.0) + rank);
                    }
                }
                sum
            }
            // Jaccard's coefficient.
            Condition::About(list) => {
                let (mut sum, mut ranks, mut weights, mut any) = (0.0, 0.0, 0.0, false);
                for (condition, weight) in list {
                    weights += weight * weight;
                    if let Some(rank) = self.rank(condition)? {
                        let part = rank.min(RANK_MAX) / RANK_MAX;
                        any = true;
                        sum += part * weight;
                        ranks += part * part;
                    }
                }
                let all = ranks + weights - sum;
                any.then(|| if all > 0.0 { RANK_MAX * sum / all } else { 0.0 })
            }
            // BM25 of a text of middling length.
            Condition::Any(list) => {
                let (k1, k3) = (1.2, 8.0);
                let mut sum = None;
                for (phrase, count) in list {
                    let hits = self.spans(phrase)?.len() as f64;
                    if hits > 0.0 {
                        let part =
                            (k1 + 1.0) * hits / (k1 + hits) * (k3 + 1.0) * count / (k3 + count);
                        sum = Some(sum.unwrap_or(0.0) + WEIGHT * part);
                    }
                }
                sum
            }
        })
    }

    fn of_hits(&self, hits: f64) -> f64 {
        (hits * 16.0 * WEIGHT / self.length).min(RANK_MAX)
    }

    /// Where a phrase stands.
    fn spans(&self, phrase: &Phrase) -> Result<Vec<Span>, Stopped> {
        let Some(((offset, first), others)) = phrase.words.split_first() else {
            return Ok(Vec::new());
        };
        let mut breath = Breath::new();
        let mut spans = Vec::new();
        for place in &self.places[*first] {
            breath.steps(1 + others.len())?;
            let Some(begin) = place.checked_sub(*offset) else { continue };
            let fits = others
                .iter()
                .all(|(offset, word)| self.places[*word].binary_search(&(begin + offset)).is_ok());
            if fits {
                spans.push((begin, begin + phrase.length));
            }
        }
        Ok(spans)
    }
}
