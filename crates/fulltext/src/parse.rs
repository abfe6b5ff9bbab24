//! Text to condition: the grammar of CONTAINS, and the words of FREETEXT.
//!
//! NOT comes before AND, AND before OR; NOT stands behind AND alone. Words of the language are AND, OR, NOT, NEAR,
//! FORMSOF and ISABOUT, in any case, and their signs. Source: SQL documentation, "CONTAINS (Transact-SQL)".

use crate::condition::{Condition, ConditionError, Near, Options, Phrase, Word};
use crate::forms::stem;
use crate::stopwords::is_stopword;
use crate::words::all;
use std::collections::HashMap;

type Result<T> = std::result::Result<T, ConditionError>;

/// Levels of parentheses.
const DEPTH_MAX: usize = 64;
/// Terms of one NEAR.
const NEAR_MAX: usize = 64;
/// Farther apart than this many words a term adds nothing to the rank of `a NEAR b`, and of `NEAR(a, b)`.
const GENERIC_REACH: u32 = 50;
const CUSTOM_REACH: u32 = 100;

#[derive(Clone, Debug, PartialEq)]
enum Token<'s> {
    Word(&'s str),
    /// What stands between quotes.
    Quoted(&'s str),
    And,
    AndNot,
    Or,
    Tilde,
    Open,
    Close,
    Comma,
    End,
}

pub(crate) struct Parser<'s> {
    source: &'s str,
    at: usize,
    /// The next token, and where it begins and ends.
    token: Token<'s>,
    start: usize,
    depth: usize,
    options: Options,
    /// Words that are looked for, and their numbers.
    pub words: Vec<Word>,
    known: HashMap<Word, usize>,
    /// A term was of stopwords alone.
    pub is_noisy: bool,
}

impl<'s> Parser<'s> {
    /// Of a condition.
    pub fn new(source: &'s str, options: Options) -> Result<Parser<'s>> {
        let mut parser = Parser::of_text(source, options);
        parser.advance()?;
        Ok(parser)
    }

    /// Of a text that is no condition.
    pub fn of_text(source: &'s str, options: Options) -> Parser<'s> {
        Parser {
            source,
            at: 0,
            token: Token::End,
            start: 0,
            depth: 0,
            options,
            words: Vec::new(),
            known: HashMap::new(),
            is_noisy: false,
        }
    }

    /// A whole condition.
    pub fn contains(&mut self) -> Result<Condition> {
        let made = self.or()?;
        match self.token {
            Token::End => Ok(made),
            _ => Err(self.unexpected()),
        }
    }

    /// The words of a text, in all their forms.
    pub fn freetext(&mut self) -> Condition {
        let mut found: Vec<(Phrase, f64)> = Vec::new();
        // By the number of the word.
        let mut at: HashMap<usize, usize> = HashMap::new();
        for word in all(self.source, self.options.accents) {
            runtime::task::stepped();
            if self.is_stopword(&word) {
                self.is_noisy = true;
                continue;
            }
            let number = self.number(self.form(&word));
            let at = *at.entry(number).or_insert(found.len());
            match found.get_mut(at) {
                Some((_, count)) => *count += 1.0,
                None => found.push((Phrase { words: vec![(0, number)], length: 1 }, 1.0)),
            }
        }
        Condition::Any(found)
    }

    // ---- Tokens

    fn advance(&mut self) -> Result<()> {
        let rest = &self.source[self.at..];
        let blank = rest.len() - rest.trim_start().len();
        self.start = self.at + blank;
        let rest = &self.source[self.start..];
        let (token, length) = match rest.chars().next() {
            None => (Token::End, 0),
            Some('(') => (Token::Open, 1),
            Some(')') => (Token::Close, 1),
            Some(',') => (Token::Comma, 1),
            Some('|') => (Token::Or, 1),
            Some('~') => (Token::Tilde, 1),
            Some('&') => {
                let behind = rest[1..].trim_start();
                match behind.starts_with('!') {
                    true => (Token::AndNot, rest.len() - behind.len() + 1),
                    false => (Token::And, 1),
                }
            }
            Some('"') => match rest[1..].find('"') {
                Some(end) => (Token::Quoted(&rest[1..1 + end]), end + 2),
                None => return Err(ConditionError::Syntax("\"".into())),
            },
            Some(_) => {
                let end = rest.find(|c: char| c.is_whitespace() || "()&|,~\"".contains(c));
                let word = &rest[..end.unwrap_or(rest.len())];
                (Token::Word(word), word.len())
            }
        };
        self.at = self.start + length;
        self.token = token;
        Ok(())
    }

    /// 7630 at the token that is next.
    fn unexpected(&self) -> ConditionError {
        ConditionError::Syntax(match &self.token {
            Token::End => "<end of input>".to_owned(),
            Token::Word(word) => (*word).to_owned(),
            _ => self.source[self.start..self.at].to_owned(),
        })
    }

    fn at_word(&self, word: &str) -> bool {
        matches!(self.token, Token::Word(found) if found.eq_ignore_ascii_case(word))
    }

    /// The word and a parenthesis.
    fn at_call(&self, word: &str) -> bool {
        self.at_word(word) && self.source[self.at..].trim_start().starts_with('(')
    }

    fn eat(&mut self, token: &Token<'_>) -> Result<bool> {
        let is = self.token == *token;
        if is {
            self.advance()?;
        }
        Ok(is)
    }

    fn expect(&mut self, token: &Token<'_>) -> Result<()> {
        match self.eat(token)? {
            true => Ok(()),
            false => Err(self.unexpected()),
        }
    }

    fn eat_word(&mut self, word: &str) -> Result<bool> {
        let is = self.at_word(word);
        if is {
            self.advance()?;
        }
        Ok(is)
    }

    // ---- Conditions

    fn or(&mut self) -> Result<Condition> {
        let mut list = vec![self.and()?];
        while self.token == Token::Or || self.at_word("OR") {
            self.advance()?;
            list.push(self.and()?);
        }
        Ok(one_or(list, Condition::Or))
    }

    fn and(&mut self) -> Result<Condition> {
        let (mut yes, mut no) = (vec![self.term()?], Vec::new());
        loop {
            runtime::task::stepped();
            let mut negated = self.token == Token::AndNot;
            if !(negated || self.token == Token::And || self.at_word("AND")) {
                break;
            }
            self.advance()?;
            negated |= self.eat_word("NOT")?;
            let next = self.term()?;
            if negated { no.push(next) } else { yes.push(next) }
        }
        Ok(match no.is_empty() {
            true => one_or(yes, |yes| Condition::And(yes, Vec::new())),
            false => Condition::And(yes, no),
        })
    }

    fn term(&mut self) -> Result<Condition> {
        if self.token == Token::Open {
            if self.depth == DEPTH_MAX {
                return Err(self.unexpected());
            }
            self.depth += 1;
            self.advance()?;
            let inner = self.or()?;
            self.expect(&Token::Close)?;
            self.depth -= 1;
            return Ok(inner);
        }
        if self.at_call("ISABOUT") {
            return self.about();
        }
        self.plain()
    }

    /// A term that may have a weight: a phrase, FORMSOF, NEAR in both its forms.
    fn plain(&mut self) -> Result<Condition> {
        if self.at_call("FORMSOF") {
            return self.forms_of();
        }
        if self.at_call("NEAR") {
            return self.near();
        }
        let first = self.phrase()?;
        let mut phrases = vec![first];
        while self.token == Token::Tilde || self.at_word("NEAR") {
            self.advance()?;
            phrases.push(self.phrase()?);
        }
        match phrases.pop() {
            Some(only) if phrases.is_empty() => Ok(Condition::Phrase(only)),
            last => {
                phrases.extend(last);
                let (distance, is_ordered, rank_distance) = (None, false, GENERIC_REACH);
                Ok(Condition::Near(Near { phrases, distance, is_ordered, rank_distance }))
            }
        }
    }

    /// A word, a phrase or one with `*` at its end, taken as they are.
    fn phrase(&mut self) -> Result<Phrase> {
        let (text, begins) = match self.token {
            Token::Quoted(text) => match text.trim_end().strip_suffix('*') {
                Some(text) => (text, true),
                None => (text, false),
            },
            // A word of the language where a term is wanted is a term.
            Token::Word(word) => (word, false),
            _ => return Err(self.unexpected()),
        };
        self.advance()?;
        let make: fn(&Self, &str) -> Word = match begins {
            true => |_, word| Word::Begins(word.to_owned()),
            false => |_, word| Word::Is(word.to_owned()),
        };
        Ok(self.words_of(text, begins, make))
    }

    /// The words of a phrase but for its stopwords, whose places stay open.
    fn words_of(&mut self, text: &str, keep: bool, make: fn(&Self, &str) -> Word) -> Phrase {
        let all = all(text, self.options.accents);
        let length = all.len() as u32;
        let mut words = Vec::new();
        for (place, word) in (0..).zip(&all) {
            runtime::task::stepped();
            if keep || !self.is_stopword(word) {
                let made = make(self, word);
                words.push((place, self.number(made)));
            }
        }
        self.is_noisy |= words.is_empty();
        Phrase { words, length }
    }

    fn is_stopword(&self, word: &str) -> bool {
        self.options.stopwords && is_stopword(word, self.options.english)
    }

    fn form(&self, word: &str) -> Word {
        match self.options.english {
            true => Word::FormOf(stem(word)),
            false => Word::Is(word.to_owned()),
        }
    }

    fn number(&mut self, word: Word) -> usize {
        if let Some(known) = self.known.get(&word) {
            return *known;
        }
        self.words.push(word.clone());
        self.known.insert(word, self.words.len() - 1);
        self.words.len() - 1
    }

    /// `FORMSOF (INFLECTIONAL | THESAURUS, term, ...)`; the thesaurus is empty, as SQL Server's own is.
    fn forms_of(&mut self) -> Result<Condition> {
        self.advance()?;
        self.expect(&Token::Open)?;
        let inflected = self.at_word("INFLECTIONAL");
        if !inflected && !self.at_word("THESAURUS") {
            return Err(self.unexpected());
        }
        self.advance()?;
        let mut list = Vec::new();
        while self.eat(&Token::Comma)? {
            let text = match self.token {
                Token::Quoted(text) | Token::Word(text) => text,
                _ => return Err(self.unexpected()),
            };
            self.advance()?;
            let make: fn(&Self, &str) -> Word = match inflected {
                true => Self::form,
                false => |_, word| Word::Is(word.to_owned()),
            };
            list.push(Condition::Phrase(self.words_of(text, false, make)));
        }
        if list.is_empty() {
            return Err(self.unexpected());
        }
        self.expect(&Token::Close)?;
        Ok(one_or(list, Condition::Or))
    }

    /// `NEAR (a, b, ...)`, `NEAR ((a, b, ...), distance | MAX, TRUE | FALSE)`
    fn near(&mut self) -> Result<Condition> {
        self.advance()?;
        self.expect(&Token::Open)?;
        let inner = self.eat(&Token::Open)?;
        let mut phrases = vec![self.phrase()?];
        while self.eat(&Token::Comma)? {
            if phrases.len() == NEAR_MAX {
                return Err(self.unexpected());
            }
            phrases.push(self.phrase()?);
        }
        if phrases.len() < 2 {
            return Err(self.unexpected());
        }
        let (mut distance, mut is_ordered) = (None, false);
        if inner {
            self.expect(&Token::Close)?;
            if self.eat(&Token::Comma)? {
                distance = match self.token {
                    Token::Word(word) if word.eq_ignore_ascii_case("MAX") => None,
                    Token::Word(word) => match word.parse::<u32>() {
                        Ok(n) => Some(n),
                        Err(_) => return Err(ConditionError::Distance),
                    },
                    _ => return Err(self.unexpected()),
                };
                self.advance()?;
                if self.eat(&Token::Comma)? {
                    is_ordered = self.at_word("TRUE");
                    if !is_ordered && !self.at_word("FALSE") {
                        return Err(self.unexpected());
                    }
                    self.advance()?;
                }
            }
        }
        self.expect(&Token::Close)?;
        let rank_distance = distance.unwrap_or(CUSTOM_REACH);
        Ok(Condition::Near(Near { phrases, distance, is_ordered, rank_distance }))
    }

    /// `ISABOUT (term WEIGHT (0.5), ...)`
    fn about(&mut self) -> Result<Condition> {
        self.advance()?;
        self.expect(&Token::Open)?;
        let mut list = Vec::new();
        loop {
            let term = self.plain()?;
            let mut weight = 1.0;
            if self.eat_word("WEIGHT")? {
                self.expect(&Token::Open)?;
                let Token::Word(number) = self.token else { return Err(self.unexpected()) };
                let digits = number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
                weight = match number.parse::<f64>() {
                    Ok(n) if digits => n,
                    _ => return Err(self.unexpected()),
                };
                if !(0.0..=1.0).contains(&weight) {
                    return Err(ConditionError::Weight);
                }
                self.advance()?;
                self.expect(&Token::Close)?;
            }
            list.push((term, weight));
            if !self.eat(&Token::Comma)? {
                break;
            }
        }
        self.expect(&Token::Close)?;
        Ok(Condition::About(list))
    }
}

/// The only one as it is.
fn one_or(mut list: Vec<Condition>, make: fn(Vec<Condition>) -> Condition) -> Condition {
    match list.pop() {
        Some(one) if list.is_empty() => one,
        Some(last) => {
            list.push(last);
            make(list)
        }
        None => make(list),
    }
}
