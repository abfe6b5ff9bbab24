//! A hash join both of whose sides are in files: a partition at a time, as often as its build side needs.

use super::probe::Probe;
use super::shape::{Going, Shape};
use super::table::Table;
use crate::batch::Batch;
use crate::cx::Cx;
use crate::key_index::hash_of;
use crate::message::SqlError;
use crate::rowcode;
use crate::spill::{Reader, SpillFile, Stream};
use planner::PhysicalJoin;
use std::sync::Arc;
use types::Value;

/// Partitions of a join that spills.
const PARTITIONS: usize = 32;

/// Both sides in files. The build side is the right one.
pub(super) struct Spilled {
    pub build: Vec<Stream>,
    pub probe: Vec<Stream>,
    partition: usize,
    /// The build side of the partition, being read; `None`: to begin.
    reader: Option<Reader>,
    /// A row of it that did not fit into the part before.
    left_over: Option<(Vec<u8>, Vec<u8>)>,
    last_part: bool,
    probing: Option<Reader>,
    /// Of each probe row of the partition: it has met somebody in this or an earlier part.
    met: Vec<bool>,
    number: usize,
    /// FULL: build rows of the part that met nobody are told from here on.
    unmatched_at: Option<usize>,
    /// The open probe row.
    row: Vec<Value>,
}

/// Which partition a row goes to. The upper bits: the table goes by the lower ones.
pub(super) fn partition_of(key: &[u8], known: bool) -> usize {
    if known { (hash_of(key) >> 40) as usize % PARTITIONS } else { 0 }
}

/// A key as it stands in a partition; one with a NULL in it is empty, and no other is.
pub(super) fn key_part(key: &[u8], known: bool) -> &[u8] {
    if known { key } else { &[] }
}

impl Spilled {
    /// Files for both sides, with what the table has so far: of the left side, or of the right one.
    pub fn begin(table: &mut Table, left: bool, cx: &mut Cx<'_>) -> Result<Box<Spilled>, SqlError> {
        let file: Arc<SpillFile> = cx.spill_file()?;
        let streams = || (0..PARTITIONS).map(|_| Stream::new(&file)).collect::<Vec<_>>();
        let (mut build, mut probe) = (streams(), streams());
        let side = if left { &mut probe } else { &mut build };
        // Rows of a key are found by it; those without one are left.
        let mut keyed = vec![false; table.rows.len()];
        let mut buffer = [0; 16];
        for number in 0..table.keys.len() as u32 {
            let key = table.keys.key(number, &mut buffer);
            let mut at = table.heads[number as usize];
            while at != 0 {
                let row = table.rows[at as usize - 1];
                side[partition_of(key, true)].push(key, table.arena.get(row.values))?;
                keyed[at as usize - 1] = true;
                at = row.next;
            }
        }
        for (row, _) in table.rows.iter().zip(&keyed).filter(|(_, keyed)| !**keyed) {
            side[0].push(&[], table.arena.get(row.values))?;
        }
        table.clear(cx);
        Ok(Box::new(Spilled {
            build,
            probe,
            partition: 0,
            reader: None,
            left_over: None,
            last_part: false,
            probing: None,
            met: Vec::new(),
            number: 0,
            unmatched_at: None,
            row: Vec::new(),
        }))
    }

    /// Both sides have been written.
    pub fn finish(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        for stream in self.build.iter_mut().chain(&mut self.probe) {
            stream.finish()?;
        }
        let bytes: u64 = self.build.iter().chain(&self.probe).map(Stream::bytes).sum();
        cx.note_hash_spill(bytes);
        Ok(())
    }

    /// Builds the next part of the partition's build side. Each part has a row at least, if there is one.
    fn build_part(
        &mut self,
        shape: &Shape<'_>,
        table: &mut Table,
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        table.clear(cx);
        let full = shape.kind == PhysicalJoin::Full;
        let stream = &self.build[self.partition];
        let reader = self.reader.get_or_insert_with(|| stream.read());
        if let Some((key, row)) = self.left_over.take() {
            table.add((!key.is_empty()).then_some(&key[..]), &row, full, true, cx)?;
        }
        self.last_part = true;
        let mut since_breath = 0u32;
        while let Some((key, row)) = reader.next(stream)? {
            let must = table.rows.is_empty();
            if !table.add((!key.is_empty()).then_some(key), row, full, must, cx)? {
                self.left_over = Some((key.to_vec(), row.to_vec()));
                self.last_part = false;
                break;
            }
            since_breath += 1;
            if since_breath.is_multiple_of(1024) {
                cx.breathe()?;
            }
        }
        self.probing = Some(self.probe[self.partition].read());
        self.number = 0;
        Ok(())
    }

    /// The next joined rows. False at the end of everything.
    pub fn next(
        &mut self,
        shape: &Shape<'_>,
        table: &mut Table,
        probe: &mut Probe,
        cx: &mut Cx<'_>,
        out: &mut Batch,
    ) -> Result<bool, SqlError> {
        let mut since_breath = 0u32;
        while !out.is_full() {
            if let Some(at) = &mut self.unmatched_at {
                while *at < table.rows.len() && !out.is_full() {
                    if !table.matched[*at] {
                        shape.push_right(table.arena.get(table.rows[*at].values), out);
                    }
                    *at += 1;
                }
                if *at < table.rows.len() {
                    break;
                }
                self.unmatched_at = None;
                self.end_part(cx);
                continue;
            }
            if self.partition == self.build.len() {
                return Ok(false);
            }
            if self.probing.is_none() {
                cx.breathe()?;
                self.build_part(shape, table, cx)?;
            }
            if !probe.open {
                let Some(reader) = &mut self.probing else { continue };
                let stream = &self.probe[self.partition];
                match reader.next(stream)? {
                    Some((key, row)) => {
                        if self.met.len() <= self.number {
                            cx.force_hold(1)?;
                            self.met.push(false);
                        }
                        probe.matched = self.met[self.number];
                        let done = probe.matched
                            && matches!(shape.kind, PhysicalJoin::Semi | PhysicalJoin::Anti);
                        probe.candidate = if key.is_empty() || done { 0 } else { table.head(key) };
                        self.row.clear();
                        rowcode::decode(row, shape.left_width, &mut self.row);
                        probe.open = true;
                        since_breath += 1;
                        if since_breath.is_multiple_of(1024) {
                            cx.breathe()?;
                        }
                    }
                    None => match shape.kind {
                        PhysicalJoin::Full => self.unmatched_at = Some(0),
                        _ => self.end_part(cx),
                    },
                }
                continue;
            }
            let going = Going {
                candidate: &mut probe.candidate,
                matched: &mut probe.matched,
                scratch: &mut probe.scratch,
            };
            let before = self.met[self.number];
            if !shape.candidates(true, &self.row, table, going, cx, out)? {
                self.met[self.number] |= probe.matched;
                break;
            }
            let met = before || probe.matched;
            match shape.kind {
                PhysicalJoin::Left | PhysicalJoin::Full | PhysicalJoin::Anti
                    if !met && self.last_part =>
                {
                    shape.push_left(&self.row, out);
                }
                PhysicalJoin::Semi if met && !before => shape.push_left(&self.row, out),
                _ => {}
            }
            self.met[self.number] = met;
            self.number += 1;
            probe.open = false;
        }
        Ok(true)
    }

    /// The part has been probed.
    fn end_part(&mut self, cx: &mut Cx<'_>) {
        self.probing = None;
        if self.last_part {
            self.partition += 1;
            self.reader = None;
            self.forget_met(cx);
        }
    }

    /// Lets go of what is known of a partition's probe rows.
    pub fn forget_met(&mut self, cx: &mut Cx<'_>) {
        cx.release(self.met.len());
        self.met = Vec::new();
    }
}
