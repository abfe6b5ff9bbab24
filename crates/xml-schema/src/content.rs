//! Is a row of elements what a content model wants? Followed on all ways at once that the model leaves open.
//!
//! Where the model stands is a list of frames: what is still to come, the next thing first. An element leads from each
//! list to those that may come after it (partial derivatives, after Antimirov); what is equal is one. A model in which an
//! element's place is plain, as XML Schema wants it, has one list nearly always.

use crate::error::{Result, SchemaError};
use crate::ids::ElementId;
use crate::model::{Particle, Schema, Term, Wildcard};
use crate::names::QName;
use runtime::task::Breath;
use std::rc::Rc;

/// Ways that are followed at once, at most (6998).
pub const PATHS_MAX: usize = 256;

/// What an element is to a model.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Matched<'s> {
    Element(ElementId),
    Any(&'s Wildcard),
}

/// What is still to come.
type Rest<'s> = Option<Rc<Node<'s>>>;

#[derive(Debug)]
struct Node<'s> {
    frame: Frame<'s>,
    tail: Rest<'s>,
}

#[derive(Clone, Debug)]
enum Frame<'s> {
    /// A particle, so many times of which are behind.
    Particle(&'s Particle, u32),
    /// The rest of a sequence.
    Sequence(&'s [Particle]),
    /// What of an `all` has not come yet.
    All(&'s [Particle], Rc<[bool]>),
}

fn before<'s>(frame: Frame<'s>, tail: Rest<'s>) -> Rest<'s> {
    Some(Rc::new(Node { frame, tail }))
}

fn same_frame(a: &Frame<'_>, b: &Frame<'_>) -> bool {
    match (a, b) {
        (Frame::Particle(p, n), Frame::Particle(q, m)) => std::ptr::eq(*p, *q) && n == m,
        (Frame::Sequence(p), Frame::Sequence(q)) => std::ptr::eq(*p, *q),
        (Frame::All(p, used), Frame::All(q, others)) => std::ptr::eq(*p, *q) && used == others,
        _ => false,
    }
}

fn same(a: &Rest<'_>, b: &Rest<'_>) -> bool {
    let (mut a, mut b) = (a, b);
    loop {
        match (a, b) {
            (None, None) => return true,
            (Some(x), Some(y)) if Rc::ptr_eq(x, y) => return true,
            (Some(x), Some(y)) if same_frame(&x.frame, &y.frame) => (a, b) = (&x.tail, &y.tail),
            _ => return false,
        }
    }
}

/// May nothing come for a particle?
pub(crate) fn is_emptiable(particle: &Particle) -> bool {
    particle.min == 0 || term_is_emptiable(&particle.term)
}

fn term_is_emptiable(term: &Term) -> bool {
    match term {
        Term::Element(..) | Term::Any(_) => false,
        Term::Sequence(parts) | Term::All(parts) => parts.iter().all(is_emptiable),
        Term::Choice(parts) => parts.is_empty() || parts.iter().any(is_emptiable),
    }
}

/// A model that is followed.
pub(crate) struct Model<'s> {
    schema: &'s Schema,
    states: Vec<Rest<'s>>,
    breath: Breath,
}

/// What a step collects.
struct Step<'s, 'n> {
    name: &'n QName,
    found: Vec<(Matched<'s>, Rest<'s>)>,
}

impl<'s> Model<'s> {
    pub fn new(schema: &'s Schema, particle: &'s Particle) -> Model<'s> {
        let states = vec![before(Frame::Particle(particle, 0), None)];
        Model { schema, states, breath: Breath::new() }
    }

    /// An element comes; `None` where it must not. The model stays where it was then.
    pub fn step(&mut self, name: &QName) -> Result<Option<Matched<'s>>> {
        let mut step = Step { name, found: Vec::new() };
        for state in std::mem::take(&mut self.states) {
            self.derive(&state, &mut step)?;
            self.states.push(state);
        }
        let mut matched = None;
        let mut next: Vec<Rest<'s>> = Vec::new();
        for (how, rest) in step.found {
            // An element that is declared goes before a wildcard.
            if matched.is_none() || matches!(how, Matched::Element(_)) {
                matched = Some(how);
            }
            if !next.iter().any(|known| same(known, &rest)) {
                next.push(rest);
            }
        }
        if next.len() > PATHS_MAX {
            return Err(too_complicated());
        }
        if matched.is_some() {
            self.states = next;
        }
        Ok(matched)
    }

    /// May it end here?
    pub fn may_end(&self) -> bool {
        self.states.iter().any(|state| {
            let mut rest = state;
            while let Some(node) = rest {
                let may = match &node.frame {
                    Frame::Particle(p, done) => *done >= p.min || term_is_emptiable(&p.term),
                    Frame::Sequence(parts) => parts.iter().all(is_emptiable),
                    Frame::All(parts, used) => {
                        parts.iter().zip(used.iter()).all(|(p, used)| *used || is_emptiable(p))
                    }
                };
                if !may {
                    return false;
                }
                rest = &node.tail;
            }
            true
        })
    }

    /// What could come, as messages have it: `'a','{uri}b'`; empty where nothing could.
    pub fn expected(&mut self) -> Result<String> {
        let mut names = Vec::new();
        for state in std::mem::take(&mut self.states) {
            let mut rest = &state;
            while let Some(node) = rest {
                if !self.first_of(&node.frame, &mut names)? {
                    break;
                }
                rest = &node.tail;
            }
            self.states.push(state);
        }
        let mut shown: Vec<String> = Vec::new();
        for name in names {
            if !shown.contains(&name) {
                shown.push(name);
            }
        }
        Ok(shown.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(","))
    }

    /// The names that may come first in a frame; whether what is behind it may come too.
    fn first_of(&mut self, frame: &Frame<'s>, names: &mut Vec<String>) -> Result<bool> {
        match frame {
            Frame::Particle(p, done) => {
                if p.max.is_none_or(|max| *done < max) {
                    self.first_of_term(&p.term, names)?;
                }
                Ok(*done >= p.min || term_is_emptiable(&p.term))
            }
            Frame::Sequence(parts) => self.first_in(parts, names),
            Frame::All(parts, used) => {
                let mut all = true;
                for (part, used) in parts.iter().zip(used.iter()).filter(|(_, used)| !**used) {
                    self.first_of_term(&part.term, names)?;
                    all &= *used || is_emptiable(part);
                }
                Ok(all)
            }
        }
    }

    fn first_in(&mut self, parts: &'s [Particle], names: &mut Vec<String>) -> Result<bool> {
        for part in parts {
            if part.max != Some(0) {
                self.first_of_term(&part.term, names)?;
            }
            if !is_emptiable(part) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn first_of_term(&mut self, term: &'s Term, names: &mut Vec<String>) -> Result<()> {
        self.breath.steps(16)?;
        match term {
            Term::Element(_, name) => names.push(name.to_string()),
            Term::Any(wildcard) => names.push(wildcard.namespaces.shown()),
            Term::Sequence(parts) => {
                self.first_in(parts, names)?;
            }
            Term::Choice(parts) | Term::All(parts) => {
                for part in parts {
                    self.first_of_term(&part.term, names)?;
                }
            }
        }
        Ok(())
    }

    fn derive(&mut self, state: &Rest<'s>, step: &mut Step<'s, '_>) -> Result<()> {
        let mut rest = state;
        while let Some(node) = rest {
            let tail = &node.tail;
            let goes_on = match &node.frame {
                Frame::Particle(p, done) => {
                    self.derive_particle(p, *done, tail, step)?;
                    *done >= p.min || term_is_emptiable(&p.term)
                }
                Frame::Sequence(parts) => self.derive_sequence(parts, tail, step)?,
                Frame::All(parts, used) => {
                    self.derive_all(parts, used, tail, step)?;
                    parts.iter().zip(used.iter()).all(|(p, used)| *used || is_emptiable(p))
                }
            };
            if !goes_on {
                break;
            }
            rest = tail;
        }
        Ok(())
    }

    fn derive_particle(
        &mut self,
        particle: &'s Particle,
        done: u32,
        tail: &Rest<'s>,
        step: &mut Step<'s, '_>,
    ) -> Result<()> {
        if particle.max.is_some_and(|max| done >= max) {
            return Ok(());
        }
        // What may come without bound need not be counted past its least number.
        let done = match particle.max {
            None => (done + 1).min(particle.min),
            Some(_) => done + 1,
        };
        let rest = match particle.max {
            Some(max) if done >= max => tail.clone(),
            _ => before(Frame::Particle(particle, done), tail.clone()),
        };
        self.derive_term(&particle.term, rest, step)
    }

    fn derive_term(
        &mut self,
        term: &'s Term,
        rest: Rest<'s>,
        step: &mut Step<'s, '_>,
    ) -> Result<()> {
        self.breath.steps(16)?;
        match term {
            Term::Element(id, name) => {
                if let Some(found) = self.stands_for(*id, name, step.name) {
                    step.found.push((Matched::Element(found), rest));
                }
            }
            Term::Any(wildcard) => {
                if wildcard.namespaces.hold(&step.name.uri) {
                    step.found.push((Matched::Any(wildcard), rest));
                }
            }
            Term::Sequence(parts) => {
                self.derive_sequence(parts, &rest, step)?;
            }
            Term::Choice(parts) => {
                for part in parts {
                    self.derive_particle(part, 0, &rest, step)?;
                }
            }
            Term::All(parts) => {
                self.derive_all(parts, &vec![false; parts.len()].into(), &rest, step)?;
            }
        }
        if step.found.len() > 4 * PATHS_MAX {
            return Err(too_complicated());
        }
        Ok(())
    }

    /// Whether what is behind the sequence may come too.
    fn derive_sequence(
        &mut self,
        parts: &'s [Particle],
        tail: &Rest<'s>,
        step: &mut Step<'s, '_>,
    ) -> Result<bool> {
        for (i, part) in parts.iter().enumerate() {
            let behind = &parts[i + 1..];
            let rest = match behind.is_empty() {
                true => tail.clone(),
                false => before(Frame::Sequence(behind), tail.clone()),
            };
            self.derive_particle(part, 0, &rest, step)?;
            if !is_emptiable(part) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn derive_all(
        &mut self,
        parts: &'s [Particle],
        used: &Rc<[bool]>,
        tail: &Rest<'s>,
        step: &mut Step<'s, '_>,
    ) -> Result<()> {
        for (i, part) in parts.iter().enumerate().filter(|(i, _)| !used[*i]) {
            self.breath.steps(4)?;
            // Only elements stand in it.
            let Term::Element(id, name) = &part.term else { continue };
            let Some(found) = self.stands_for(*id, name, step.name) else { continue };
            let mut used = used.to_vec();
            used[i] = true;
            let rest = before(Frame::All(parts, used.into()), tail.clone());
            step.found.push((Matched::Element(found), rest));
        }
        Ok(())
    }

    /// The declaration by which an element stands in a place: its own, or that of a substitute.
    fn stands_for(&self, id: ElementId, declared: &QName, name: &QName) -> Option<ElementId> {
        if declared == name {
            return Some(id);
        }
        let substitutes = self.schema.substitutes.get(&id)?;
        substitutes.iter().copied().find(|other| self.schema.element(*other).name == *name)
    }
}

/// Is the element one that an `all` has had already?
pub(crate) fn is_repeated(particle: &Particle, name: &QName) -> bool {
    match &particle.term {
        Term::All(parts) => parts.iter().any(|part| match &part.term {
            Term::Element(_, known) => known == name,
            _ => false,
        }),
        _ => false,
    }
}

/// 6998.
pub(crate) fn too_complicated() -> SchemaError {
    SchemaError::new(
        6998,
        "Invalid type definition: Type or content model '' is too complicated. It may be necessary to reduce the number of \
         enumerations or the size of the content model.",
    )
}
