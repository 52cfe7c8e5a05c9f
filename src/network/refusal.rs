//! Why a network cannot be built.

/// Settings, lengths or colours that make no network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArchitectureError {
    /// A shape that no network can have.
    #[error("{what} is {value}: it must lie in {least}..={most}")]
    Shape {
        /// The setting, or the length given by the encoding.
        what: &'static str,
        /// Its value.
        value: usize,
        /// The least allowed.
        least: usize,
        /// The most allowed.
        most: usize,
    },
    /// The info state has no colours.
    #[error(
        "network.kind is {kind}, which treats the colours of a game alike, and this game or encoding has none: set network.kind to mlp, \
         or game.kind to lost_cities"
    )]
    NoColors {
        /// The kind of network.
        kind: &'static str,
    },
    /// The actions are not numbered by colour.
    #[error(
        "network.kind is color_set, whose outputs are by colour, and this encoding's actions are not: set encoding.kind to cards, or \
         network.kind to mlp or color_shared"
    )]
    NoColorActions,
    /// A layout of colours that does not fit the lengths.
    #[error("the colours of {what} do not fit its {length} numbers: {why}")]
    Colors {
        /// The info state or the answer.
        what: &'static str,
        /// Its length.
        length: usize,
        /// What is wrong.
        why: &'static str,
    },
    /// Attention heads that cannot share the units.
    #[error(
        "network.color_attention_heads is {heads}, which does not divide network.hidden_size, {hidden_size}"
    )]
    Heads {
        /// The heads.
        heads: usize,
        /// The units to share.
        hidden_size: usize,
    },
}

impl ArchitectureError {
    /// Refuses a `value` outside `range`.
    pub(super) fn check(
        what: &'static str,
        value: usize,
        range: std::ops::RangeInclusive<usize>,
    ) -> Result<(), Self> {
        if range.contains(&value) {
            return Ok(());
        }
        Err(Self::Shape {
            what,
            value,
            least: *range.start(),
            most: *range.end(),
        })
    }
}
