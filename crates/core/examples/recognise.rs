//! Measures how long it takes to find the entities in a text of 200 words, by number of names. Prints a line per size;
//! the time is the thread's CPU time, the median of several rounds.
//!
//!     cargo run --release -p cftrag-core --example recognise [entities ... | names.txt texts.txt]
//!
//! Names have 1 to 7 words, drawn from 30 000 so that some words are much more common than others (Zipf), as in an
//! ontology: "autosomal" begins hundreds of names. A text contains 10 names literally; half of its words are "of",
//! "the" and similar words, which begin no name; of the rest, half are words in no name, and half are drawn like the
//! words of names. (Definitions of the Disease Ontology: 1.6 windows a word, 15 mentions in 200 words.)

use std::hint::black_box;

use cftrag_core::{
    AllSeen, Edge, Error, HeapMemory, Image, Interruptible, Prefix, Reader, Recogniser, Seek, Step,
};

const VOCABULARY: usize = 30_000;
const FUNCTION_WORDS: usize = 60;
const WORDS: usize = 200;
const MENTIONS: usize = 10;
const ROUNDS: usize = 5;

/// xorshift64*.
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, n: usize) -> usize {
        (self.unit() * n as f64) as usize
    }

    /// A word of the vocabulary; the n-th is about 1/n as frequent as the first.
    fn word(&mut self) -> String {
        spell(FUNCTION_WORDS + (VOCABULARY as f64).powf(self.unit()) as usize)
    }

    fn name(&mut self) -> String {
        let words = [1, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 5, 5, 6, 7][self.below(15)];
        (0..words).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }

    fn text(&mut self, names: &[String]) -> String {
        let mut words: Vec<String> =
            (0..WORDS / 2).map(|_| spell(self.below(FUNCTION_WORDS))).collect();
        let mut mentioned = 0;
        for _ in 0..MENTIONS {
            let name = &names[self.below(names.len())];
            mentioned += name.split(' ').count();
            words.insert(self.below(words.len()), name.clone());
        }
        for n in mentioned..WORDS / 2 {
            let unknown = spell(VOCABULARY * 10 + self.below(VOCABULARY));
            let word = if n % 2 == 0 { self.word() } else { unknown };
            words.insert(self.below(words.len()), word);
        }
        words.join(" ")
    }
}

/// A pronounceable word for a number: longer for greater ones.
fn spell(mut n: usize) -> String {
    let mut word = String::new();
    loop {
        word.push(char::from(b"bcdfghklmnprstvz"[n % 16]));
        word.push(char::from(b"aeiou"[n / 16 % 5]));
        n /= 80;
        if n == 0 {
            return word + "n";
        }
    }
}

/// The time that this thread has run; other work on the machine counts less in it.
fn cpu_ns() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    stat.split(' ').next().and_then(|ns| ns.parse().ok()).expect("a number")
}

/// More texts than fit into the processor's caches.
const TEXTS: usize = 2000;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let lines = |path: &String| -> Vec<String> {
        let text = std::fs::read_to_string(path).expect("a file of lines");
        text.lines().filter(|line| !line.is_empty()).map(str::to_string).collect()
    };
    if let [names, texts] = &args[..]
        && names.parse::<usize>().is_err()
    {
        let mut random = Random(0x9E37_79B9_7F4A_7C15);
        return measure(&mut random, &lines(names), &lines(texts));
    }
    let mut sizes: Vec<usize> = args.iter().map(|arg| arg.parse().expect("a number")).collect();
    if sizes.is_empty() {
        sizes = vec![10_000, 100_000, 1_000_000];
    }
    for entities in sizes {
        let mut random = Random(0x9E37_79B9_7F4A_7C15);
        let names: Vec<String> = (0..entities).map(|_| random.name()).collect();
        let texts: Vec<String> = (0..TEXTS).map(|_| random.text(&names)).collect();
        measure(&mut random, &names, &texts);
    }
}

fn measure(random: &mut Random, names: &[String], texts: &[String]) {
    let mut heap = HeapMemory::new(usize::MAX);
    assert!(heap.grow());
    Image::format(&heap, 1).expect("chunk 0 is mapped");
    let start = cpu_ns();
    for (i, child) in names.iter().enumerate().skip(1) {
        let parent = names[random.below(i)].as_bytes();
        let edge = Edge { tree: None, parent, child: child.as_bytes() };
        while let Err(error) = Image::open(&heap).expect("an image").insert(&edge, None) {
            assert!(matches!(error, Error::Full { .. }) && heap.grow());
            Image::open(&heap).expect("an image").publish_chunks(heap.mapped());
        }
    }
    let build = (cpu_ns() - start) / 1e9;
    let image = Image::open(&heap).expect("an image");
    let mut recogniser = Recogniser::new(Prefix::LENGTH);
    let (mut found, mut windows) = (0, 0);
    let mut rounds = Vec::new();
    // The clock ticks only every 4 ms.
    let texts: Vec<&String> = texts.iter().cycle().take(texts.len().max(10_000)).collect();
    for _ in 0..ROUNDS {
        let start = cpu_ns();
        for text in &texts {
            recogniser.begin(Seek::Entities, false);
            let mut reader = Reader::new(text);
            recogniser.read(&mut reader, &mut Interruptible::new(&mut || ())).expect("memory");
            assert!(recogniser.step(image, &AllSeen, usize::MAX, &reader) == Step::Done);
            recogniser.finish();
            found += black_box(recogniser.mentions()).len();
            windows += recogniser.counters().lookups;
        }
        rounds.push((cpu_ns() - start) / texts.len() as f64);
    }
    rounds.sort_by(f64::total_cmp);
    let start = cpu_ns();
    for text in &texts {
        recogniser.begin(Seek::Entities, false);
        recogniser
            .read(&mut Reader::new(text), &mut Interruptible::new(&mut || ()))
            .expect("memory");
    }
    let reading = (cpu_ns() - start) / texts.len() as f64;
    let (stats, asked) = (image.stats(), (ROUNDS * texts.len()) as f64);
    println!(
        "{:8} names: {:5.1} us a text ({:.1} to read and fold), {:.1} mentions, {:.0} windows; \
         build {build:.2} s, {:.1} bytes used / entity, {:.3} filter entries / entity",
        stats.entities,
        rounds[ROUNDS / 2] / 1e3,
        reading / 1e3,
        found as f64 / asked,
        windows as f64 / asked,
        stats.bytes_used as f64 / stats.entities as f64,
        stats.slots_used as f64 / stats.entities as f64,
    );
}
