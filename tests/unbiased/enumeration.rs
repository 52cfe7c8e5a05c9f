//! Every way that a walk's draws can come out, each with its probability.

use coorl_async::{
    game::{Action, ActionSet},
    random::Randomness,
    traversal::WalkRandomness,
};
use std::sync::{Arc, Mutex, MutexGuard};

/// A source of draws that runs through all their outcomes, one combination per walk.
#[derive(Default)]
pub struct Outcomes {
    script: Arc<Mutex<Script>>,
}

/// The draws of one walk in the order in which they are made.
#[derive(Default)]
struct Script {
    draws: Vec<Draw>,
    /// The next draw of the walk under way.
    at: usize,
    streams: u64,
    /// What streams that were copied have drawn: stream, position and number of outcomes, and the outcome.
    copied: Vec<((u64, u64, usize), usize)>,
}

struct Draw {
    probabilities: Vec<f64>,
    taken: usize,
}

impl Outcomes {
    /// Runs `walk` once for every combination of outcomes, with its probability known afterwards.
    pub fn for_each<T>(
        &self,
        mut walk: impl FnMut(Enumerated) -> T,
        mut each: impl FnMut(f64, T),
    ) -> usize {
        *self.script() = Script::default();
        let mut walks = 0;
        loop {
            let given = walk(Enumerated {
                script: Arc::clone(&self.script),
                stream: 0,
                drawn: 0,
                is_copy: false,
            });
            walks += 1;
            each(self.script().probability(), given);
            if !self.script().advance() {
                return walks;
            }
        }
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().expect("no walk panicked")
    }
}

impl Script {
    fn probability(&self) -> f64 {
        self.draws
            .iter()
            .map(|draw| draw.probabilities[draw.taken])
            .product()
    }

    /// Goes to the next combination; false after the last.
    fn advance(&mut self) -> bool {
        assert_eq!(self.at, self.draws.len(), "a walk drew less than before");
        (self.at, self.streams) = (0, 0);
        self.copied.clear();
        while let Some(last) = self.draws.last_mut() {
            last.taken += 1;
            if last.taken < last.probabilities.len() {
                return true;
            }
            self.draws.pop();
        }
        false
    }

    fn draw(&mut self, probabilities: &[f64]) -> usize {
        if self.at == self.draws.len() {
            self.draws.push(Draw {
                probabilities: probabilities.to_vec(),
                taken: 0,
            });
        }
        let draw = &self.draws[self.at];
        assert_eq!(draw.probabilities, probabilities, "a walk drew otherwise");
        self.at += 1;
        draw.taken
    }
}

/// A stream of such draws. A copy gives what the other copies give at the same place.
pub struct Enumerated {
    script: Arc<Mutex<Script>>,
    stream: u64,
    drawn: u64,
    is_copy: bool,
}

impl Clone for Enumerated {
    fn clone(&self) -> Self {
        Self {
            script: Arc::clone(&self.script),
            is_copy: true,
            ..*self
        }
    }
}

impl Enumerated {
    fn draw(&mut self, probabilities: &[f64]) -> usize {
        let mut script = self.script.lock().expect("no walk panicked");
        let place = (self.stream, self.drawn, probabilities.len());
        self.drawn += 1;
        let drawn = script.copied.iter().find(|(known, _)| *known == place);
        match drawn.map(|(_, outcome)| *outcome) {
            Some(outcome) if self.is_copy => outcome,
            _ => {
                let outcome = script.draw(probabilities);
                if self.is_copy {
                    script.copied.push((place, outcome));
                }
                outcome
            }
        }
    }
}

impl Randomness for Enumerated {
    fn uniform(&mut self) -> f64 {
        unreachable!("every draw has finitely many outcomes")
    }

    fn index(&mut self, n: usize) -> usize {
        self.draw(&vec![1.0 / n as f64; n])
    }
}

impl WalkRandomness for Enumerated {
    fn fork(&mut self) -> Self {
        let mut script = self.script.lock().expect("no walk panicked");
        script.streams += 1;
        Self {
            script: Arc::clone(&self.script),
            stream: script.streams,
            drawn: 0,
            is_copy: false,
        }
    }

    fn choose(&mut self, policy: &[f32], legal: ActionSet) -> Option<Action> {
        let possible = legal.iter().filter(|&action| policy[action as usize] > 0.0);
        let possible: Vec<Action> = possible.collect();
        let probabilities: Vec<f64> = possible
            .iter()
            .map(|&action| policy[action as usize].into())
            .collect();
        (!possible.is_empty()).then(|| possible[self.draw(&probabilities)])
    }
}
