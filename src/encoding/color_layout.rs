//! Where the colours of a game lie in an info state and among the actions.

/// Which values of an info state and which actions belong to each colour, for networks that treat all colours alike.
///
/// The blocks of all colours have one length, and value `k` of one block means for its colour what value `k` of another block means for the
/// other colour. By card, exchanging two colours in a state exchanges their blocks and leaves the rest as it is; by hand slot that holds in
/// part only, for piles and slots name the colours of their cards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColorLayout {
    /// Indices into an info state row, `[colors][block]`.
    pub info: Vec<Vec<usize>>,
    /// All other indices of the row, ascending.
    pub common: Vec<usize>,
    /// Action numbers, `[colors][actions of a colour]`. Without any colour where the encoding does not number actions by colour.
    pub actions: Vec<Vec<usize>>,
    /// All other action numbers, ascending.
    pub common_actions: Vec<usize>,
}

impl ColorLayout {
    /// The layout with the given blocks in an info state of `info_len` values and among `num_actions` actions; what they leave out is common.
    pub fn new(
        info: Vec<Vec<usize>>,
        info_len: usize,
        actions: Vec<Vec<usize>>,
        num_actions: usize,
    ) -> Self {
        Self {
            common: outside(&info, info_len),
            common_actions: outside(&actions, num_actions),
            info,
            actions,
        }
    }

    /// The same info states with `outputs` answers of no colour.
    pub fn with_common_answers(self, outputs: usize) -> Self {
        Self {
            actions: Vec::new(),
            common_actions: (0..outputs).collect(),
            ..self
        }
    }

    /// The number of colours.
    pub fn colors(&self) -> usize {
        self.info.len()
    }

    /// Values of an info state per colour.
    pub fn block_len(&self) -> usize {
        self.info.first().map_or(0, Vec::len)
    }

    /// Actions per colour; 0 where actions are not by colour.
    pub fn actions_per_color(&self) -> usize {
        self.actions.first().map_or(0, Vec::len)
    }
}

/// The numbers below `len` that are in none of the `blocks`.
fn outside(blocks: &[Vec<usize>], len: usize) -> Vec<usize> {
    let mut inside = vec![false; len];
    for &index in blocks.iter().flatten() {
        inside[index] = true;
    }
    (0..len).filter(|&index| !inside[index]).collect()
}
