//! Sampled stacks with function names, and what is read off them.

use inferno::flamegraph;
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    ffi::c_void,
    fmt::Write as _,
    io,
    path::Path,
    sync::Arc,
};

/// A frame for whose address no library has a name.
const UNKNOWN: &str = "[unknown]";
/// The frames of this program begin so.
const PROGRAM: &str = "coorl_async::";

/// How often each stack was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stacks(Vec<Stack>);

/// One stack of one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stack {
    thread: String,
    /// Function names, the outermost first.
    frames: Vec<Arc<str>>,
    samples: u64,
}

/// A function's share of the samples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionSamples {
    /// Its name.
    pub name: Arc<str>,
    /// Samples in it.
    pub own: u64,
    /// Samples in it or in what it called.
    pub total: u64,
}

impl Stacks {
    /// Names the functions. A sample is a thread's name, return addresses with the innermost first, and a count.
    pub(super) fn resolve(samples: Vec<(String, Vec<usize>, u64)>) -> Self {
        let mut addresses: Vec<usize> = samples
            .iter()
            .flat_map(|(_, frames, _)| calls(frames))
            .collect();
        // In order of address, so that the symbol tables of one library are read once and not once per stack.
        addresses.sort_unstable();
        addresses.dedup();
        let names: HashMap<usize, Vec<Arc<str>>> = addresses
            .into_iter()
            .map(|address| (address, names_at(address)))
            .collect();
        let stacks = samples.iter().map(|(thread, frames, samples)| {
            let mut named: Vec<Arc<str>> = calls(frames)
                .flat_map(|address| names[&address].iter().cloned())
                .collect();
            named.reverse();
            (thread.clone(), named, *samples)
        });
        Self::merge(stacks)
    }

    fn merge(stacks: impl Iterator<Item = (String, Vec<Arc<str>>, u64)>) -> Self {
        let mut merged = BTreeMap::new();
        for (thread, frames, samples) in stacks {
            *merged.entry((thread, frames)).or_insert(0) += samples;
        }
        let stack = |((thread, frames), samples)| Stack {
            thread,
            frames,
            samples,
        };
        Self(merged.into_iter().map(stack).collect())
    }

    /// Samples in all.
    pub fn samples(&self) -> u64 {
        self.0.iter().map(|stack| stack.samples).sum()
    }

    /// One stack a line: `thread;outermost;...;innermost samples`, as tools for flamegraphs read it.
    pub fn folded(&self) -> String {
        let mut text = String::new();
        for stack in &self.0 {
            let frames = stack.frames.join(";");
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{};{frames} {}", stack.thread, stack.samples);
        }
        text
    }

    /// Draws the flamegraph as SVG. Without samples there is nothing to draw, and nothing is written.
    ///
    /// # Errors
    /// What the writer says.
    pub fn flamegraph(&self, title: &str, writer: impl io::Write) -> io::Result<()> {
        let folded = self.folded();
        if folded.is_empty() {
            return Ok(());
        }
        let mut options = flamegraph::Options::default();
        options.title = title.to_owned();
        options.count_name = "samples".to_owned();
        flamegraph::from_lines(&mut options, folded.lines(), writer)
    }

    /// Samples by thread name, most first.
    pub fn by_thread(&self) -> Vec<(String, u64)> {
        let threads = self.0.iter();
        most_first(threads.map(|stack| (stack.thread.clone(), stack.samples)))
    }

    /// Samples by the module of this program that was at work, itself or through a library it called; most first. The matrix library's
    /// kernels hide who called them: such samples go by the first word of the innermost function's name.
    pub fn by_module(&self) -> Vec<(String, u64)> {
        most_first(self.0.iter().map(|stack| {
            let innermost = stack.frames.iter().rev().find_map(|name| module_of(name));
            let module = innermost.unwrap_or_else(|| outside(stack.frames.last()));
            (module, stack.samples)
        }))
    }

    /// Samples by function, most of its own first.
    pub fn by_function(&self) -> Vec<FunctionSamples> {
        let mut functions: HashMap<&Arc<str>, (u64, u64)> = HashMap::new();
        for stack in &self.0 {
            // A function that calls itself counts once.
            for name in stack.frames.iter().collect::<BTreeSet<_>>() {
                functions.entry(name).or_default().1 += stack.samples;
            }
            if let Some(leaf) = stack.frames.last() {
                functions.entry(leaf).or_default().0 += stack.samples;
            }
        }
        let mut found: Vec<FunctionSamples> = functions
            .into_iter()
            .map(|(name, (own, total))| FunctionSamples {
                name: Arc::clone(name),
                own,
                total,
            })
            .collect();
        found.sort_by(|a, b| (b.own, b.total, &a.name).cmp(&(a.own, a.total, &b.name)));
        found
    }
}

fn most_first(counts: impl Iterator<Item = (String, u64)>) -> Vec<(String, u64)> {
    let mut sums = BTreeMap::new();
    for (name, samples) in counts {
        *sums.entry(name).or_insert(0) += samples;
    }
    let mut sums: Vec<(String, u64)> = sums.into_iter().collect();
    sums.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    sums
}

/// Where a stack that shows nothing of this program ends.
fn outside(leaf: Option<&Arc<str>>) -> String {
    let letters =
        |name: &str| -> String { name.chars().take_while(|c| c.is_alphanumeric()).collect() };
    let library = leaf.map(|leaf| letters(leaf.trim_start_matches('_')));
    match library.as_deref() {
        None | Some("") => "caller unknown".to_owned(),
        Some(library) => format!("caller unknown: {library}"),
    }
}

/// The addresses to look up for frames with the innermost first. The symbolizer looks at the byte before, as is right for where a call
/// returns to, which may be the next function already; the innermost frame is no call.
fn calls(frames: &[usize]) -> impl Iterator<Item = usize> {
    let lookup =
        |(depth, &address): (usize, &usize)| address.saturating_add(usize::from(depth == 0));
    frames.iter().enumerate().map(lookup)
}

/// The function at an address; with what was inlined there, innermost first, where line tables tell.
fn names_at(address: usize) -> Vec<Arc<str>> {
    let mut names = Vec::new();
    backtrace::resolve(address as *mut c_void, |symbol| {
        let name = symbol.name().map(|name| format!("{name:#}"));
        let name = name.as_deref().unwrap_or(UNKNOWN);
        names.push(one_word(&qualified(name, symbol.filename())));
    });
    if names.is_empty() {
        names.push(UNKNOWN.into());
    }
    names
}

/// Line tables give inlined functions without their modules: those of this program are put back from the source file.
fn qualified(name: &str, file: Option<&Path>) -> String {
    let file = file.and_then(Path::to_str).unwrap_or_default();
    let foreign = ["/registry/", "/rustc/", "/library/"]
        .iter()
        .any(|part| file.contains(part));
    let own = file
        .rsplit_once("src/")
        .and_then(|(_, path)| path.strip_suffix(".rs"));
    match own {
        Some(module) if !foreign && !name.starts_with(PROGRAM) && !name.starts_with('<') => {
            let module = module.trim_end_matches("/mod").replace('/', "::");
            format!("{PROGRAM}{module}::{name}")
        }
        _ => name.to_owned(),
    }
}

/// The name as folded stacks can hold it, where `;` parts frames.
fn one_word(name: &str) -> Arc<str> {
    name.replace(';', ",").replace(['\n', '\r'], " ").into()
}

/// `encoding` of `coorl_async::encoding::slots::...`, also where it is `<coorl_async::... as Trait>::f` or a parameter; two levels for what has
/// parts of its own.
fn module_of(name: &str) -> Option<String> {
    let start = name.find(PROGRAM)?;
    let path = &name[start + PROGRAM.len()..];
    let mut parts = path.split("::").take_while(|part| {
        part.chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    });
    let first = parts.next()?;
    let second = parts.next().filter(|second| !second.is_empty());
    Some(second.map_or(first.to_owned(), |second| format!("{first}::{second}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stacks(given: &[(&str, &str, u64)]) -> Stacks {
        Stacks::merge(given.iter().map(|&(thread, frames, samples)| {
            (
                thread.to_owned(),
                frames.split(' ').map(Arc::from).collect(),
                samples,
            )
        }))
    }

    #[test]
    fn functions_count_for_themselves_and_for_what_they_call() {
        let seen = stacks(&[
            ("walks", "a b c", 3),
            ("walks", "a b", 1),
            ("main", "a b a", 2),
        ]);
        assert_eq!(seen.samples(), 6);
        let functions = seen.by_function();
        let figures = |f: &FunctionSamples| (f.name.to_string(), f.own, f.total);
        let found: Vec<(String, u64, u64)> = functions.iter().map(figures).collect();
        let expected = [("c", 3, 3), ("a", 2, 6), ("b", 1, 6)];
        assert_eq!(
            found,
            expected.map(|(name, own, total)| (name.to_owned(), own, total))
        );
        assert_eq!(
            seen.by_thread(),
            [("walks".to_owned(), 4), ("main".to_owned(), 2)]
        );
    }

    #[test]
    fn equal_stacks_are_folded_into_one_line() {
        let seen = stacks(&[("walks", "a b", 3), ("walks", "a b", 1), ("main", "a", 2)]);
        assert_eq!(
            seen.folded(),
            "main;a 2\nwalks;a b 4\n".replace("a b", "a;b")
        );
        let mut drawn = Vec::new();
        seen.flamegraph("t", &mut drawn).unwrap();
        let drawn = String::from_utf8(drawn).unwrap();
        assert!(drawn.contains("<svg") && drawn.contains("walks"), "{drawn}");
        let mut nothing = Vec::new();
        Stacks::default().flamegraph("t", &mut nothing).unwrap();
        assert!(nothing.is_empty());
    }

    #[test]
    fn a_sample_belongs_to_the_innermost_module_of_the_program() {
        let seen = stacks(&[
            (
                "walks",
                "start coorl_async::inference::lane::run at::addmm",
                5,
            ),
            (
                "walks",
                "coorl_async::traversal::walk <coorl_async::encoding::slots::Slots<G>>::encode memset",
                2,
            ),
            ("walks", "start __mkl_sgemm_2", 1),
            ("walks", "[unknown]", 1),
        ]);
        let expected = [
            ("inference::lane", 5),
            ("encoding::slots", 2),
            ("caller unknown", 1),
            ("caller unknown: mkl", 1),
        ];
        assert_eq!(
            seen.by_module(),
            expected.map(|(name, n)| (name.to_owned(), n))
        );
        assert_eq!(module_of("coorl_async::main").as_deref(), Some("main"));
        assert_eq!(
            module_of("coorl_async::regret::Matching::f").as_deref(),
            Some("regret")
        );
        assert_eq!(module_of("std::main"), None);
    }

    #[test]
    fn inlined_functions_of_the_program_get_their_module_back() {
        let name = |name, file| qualified(name, Some(Path::new(file)));
        assert_eq!(
            name("put", "/a/src/replay/memory.rs"),
            "coorl_async::replay::memory::put"
        );
        assert_eq!(
            name("put", "/a/src/network/mod.rs"),
            "coorl_async::network::put"
        );
        assert_eq!(
            name("coorl_async::x::put", "/a/src/x.rs"),
            "coorl_async::x::put"
        );
        assert_eq!(name("map", "/rustc/1/library/core/src/option.rs"), "map");
        assert_eq!(
            name("send", "/a/registry/src/i/flume-0.12/src/lib.rs"),
            "send"
        );
        assert_eq!(qualified("memcpy", None), "memcpy");
    }

    #[test]
    fn this_function_is_found_by_its_address() {
        let here = Stacks::resolve as *const () as usize;
        let seen = Stacks::resolve(vec![
            ("t".to_owned(), vec![here, here + 1], 2),
            ("t".to_owned(), vec![1], 1),
        ]);
        let folded = seen.folded();
        assert!(folded.contains("Stacks::resolve;"), "{folded}");
        assert!(folded.contains("t;[unknown] 1"), "{folded}");
    }
}
