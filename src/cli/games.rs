//! From the configuration's game to the types that stand for it.

/// Evaluates an expression with the game and the encoding of a configuration: `with_game!(config, |game, encoding| expression)`. The
/// expression is compiled once for each game and encoding. Returns early with an error where the rules are refused.
macro_rules! with_game {
    ($config:expr, |$game:ident, $encoding:ident| $body:expr) => {{
        use $crate::{config::GameKind, encoding, game};
        let config: &$crate::config::Config = $config;
        match config.game {
            GameKind::LostCities => {
                let $game = game::lost_cities::LostCities::new(config.rules.clone())?;
                match config.encoding.kind {
                    encoding::Kind::Slots => {
                        let $encoding = encoding::Slots::new(&$game, &config.encoding);
                        $body
                    }
                    encoding::Kind::Cards => {
                        let $encoding = encoding::Cards::new(&$game)?;
                        $body
                    }
                }
            }
            GameKind::Kuhn => {
                let ($game, $encoding) = (game::kuhn::Kuhn, encoding::KuhnBits);
                $body
            }
            GameKind::Leduc => {
                let ($game, $encoding) = (game::leduc::Leduc, encoding::LeducBits);
                $body
            }
        }
    }};
}

pub(in crate::cli) use with_game;
