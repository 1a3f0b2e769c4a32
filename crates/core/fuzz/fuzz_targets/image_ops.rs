//! Reads bytes as operations on an image, which is compared with the naive model after each.
//!
//!     cargo +nightly fuzz run image_ops

#![no_main]

#[path = "../../tests/common/mod.rs"]
#[expect(dead_code, reason = "what tests without a world use")]
mod common;

use common::{Op, World};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut bytes = data.iter().copied().take(2000);
    let mut world = World::new(u64::from(bytes.next().unwrap_or(0)));
    while let Some(op) = decode(&mut bytes) {
        world.apply(&op);
    }
    world.finish();
});

/// The next operation; missing bytes are 0.
fn decode(bytes: &mut impl Iterator<Item = u8>) -> Option<Op> {
    let code = bytes.next()?;
    let mut next = || bytes.next().unwrap_or(0);
    let flag = code & 0x80 != 0;
    let some = |i: u8| (code & 0x40 != 0).then_some(i);
    Some(match code & 0x0F {
        0 => Op::Begin,
        1 => Op::Commit(next()),
        2 => Op::Abort(next()),
        3 => Op::Command(next()),
        4..8 => Op::Insert { edge: [next(), next(), next()], by: some(code >> 4 & 3) },
        8..10 => Op::Delete { row: next(), by: next(), frozen: code & 0x40 != 0, forgetful: flag },
        10 => Op::Settle { max: next(), forgetful: flag },
        11 => Op::Cool(next()),
        12..14 => Op::Context {
            entity: next(),
            up: next(),
            down: next(),
            own: some(code >> 4 & 3),
            slots: next(),
            forgetful: flag,
        },
        14 if code & 0x10 != 0 => Op::Recognise {
            text: std::array::from_fn(|_| next()),
            overlapping: code & 0x20 != 0,
            own: some(0),
            slots: next(),
            forgetful: flag,
        },
        14 => Op::Edges { own: some(next()), forgetful: flag },
        15 if code & 0x10 != 0 => {
            Op::Roots { own: some(code >> 4 & 3), budget: next(), forgetful: flag }
        }
        _ => Op::Hot(next()),
    })
}
