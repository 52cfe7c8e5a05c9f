//! Whether training learns: exact distances to equilibrium after real runs. Minutes long, so `cargo test` alone leaves it out; `make
//! test-learning` runs it.

mod runs;
mod schemes;
mod shipped;
