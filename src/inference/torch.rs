//! The real network behind a lane: libtorch, on the host.

use super::{Computing, Head, HeadArchitectures, Network, RowShape};
use crate::network::{Compile, Precision, Ready, TensorError};
use tch::{Device, Kind, Tensor};

/// The heads' networks with their staging memory.
pub struct TorchNetworks {
    architectures: HeadArchitectures,
    shape: RowShape,
    /// `[staged rows x info_len]`, allocated once and never resized: `staged` reads the same memory.
    stage: Box<[f32]>,
    staged: Tensor,
    /// Rows of every call under deterministic batching, else as many as come.
    fixed_rows: Option<usize>,
    answers: Vec<f32>,
    precision: Precision,
    compile: Compile,
    heads: Vec<Option<Ready>>,
}

impl TorchNetworks {
    /// Rows per network call under deterministic batching.
    ///
    /// A matrix product may add up a row in another order when the batch has another shape. With one shape for every call, and
    /// each row computed alike wherever it stands in the batch, an answer depends on its row alone.
    pub const DETERMINISTIC_ROWS: usize = 64;

    /// No head loaded yet; batches of at most `max_batch` rows.
    pub fn new(architectures: HeadArchitectures, computing: &Computing, max_batch: usize) -> Self {
        let shape = architectures.row_shape();
        let fixed_rows = computing.deterministic.then_some(Self::DETERMINISTIC_ROWS);
        let rows = max_batch.max(1).next_multiple_of(fixed_rows.unwrap_or(1));
        let mut stage = vec![0.0; rows * shape.info_len].into_boxed_slice();
        // SAFETY: the boxed slice is neither moved out of nor resized while this value lives, and fields drop together; `run` is the only
        // reader of the tensor and `stage` the only writer of the slice, both behind `&mut self`.
        let staged = unsafe {
            Tensor::from_blob(
                stage.as_mut_ptr().cast(),
                &[stage.len() as i64],
                &[1],
                Kind::Float,
                Device::Cpu,
            )
        };
        Self {
            architectures,
            shape,
            stage,
            staged,
            fixed_rows,
            answers: Vec::new(),
            precision: computing.precision,
            compile: computing.compile,
            heads: Vec::new(),
        }
    }

    /// Gives `head` the weights `parameters` (`[num_parameters]`).
    ///
    /// # Errors
    /// Another length than the architecture's.
    pub fn load(&mut self, head: Head, parameters: &[f32]) -> Result<(), TensorError> {
        let architecture = self.architectures.of(head)?;
        let flat = Tensor::f_from_slice(parameters)?;
        let network = architecture.ready(&flat, self.precision, self.compile)?;
        let index = head.0 as usize;
        if self.heads.len() <= index {
            self.heads.resize_with(index + 1, || None);
        }
        self.heads[index] = Some(network);
        Ok(())
    }
}

impl Network for TorchNetworks {
    fn stage(&mut self, rows: usize) -> &mut [f32] {
        &mut self.stage[..rows * self.shape.info_len]
    }

    fn row_shape(&self, head: Head) -> Option<RowShape> {
        self.architectures
            .of(head)
            .ok()
            .map(HeadArchitectures::rows_of)
    }

    fn run(&mut self, head: Head, rows: usize) -> Result<&[f32], String> {
        let network = self.heads.get(head.0 as usize).and_then(Option::as_ref);
        let network = network.ok_or_else(|| format!("head {} has no weights", head.0))?;
        let architecture = self
            .architectures
            .of(head)
            .map_err(|error| error.to_string())?;
        let RowShape { info_len, actions } = HeadArchitectures::rows_of(architecture);
        let call = self.fixed_rows.unwrap_or(rows).max(1);
        let padded = rows.next_multiple_of(call);
        self.answers.resize(padded * actions, 0.0);
        for start in (0..padded).step_by(call) {
            let (start, call) = (start as i64, call as i64);
            let part = self
                .staged
                .narrow(0, start * info_len as i64, call * info_len as i64);
            let part = part.view([call, info_len as i64]);
            let (start, call) = (start as usize, call as usize);
            let answers = &mut self.answers[start * actions..][..call * actions];
            let output = network.forward(&part).map_err(|error| error.to_string())?;
            output
                .f_copy_data(answers, call * actions)
                .map_err(|error| error.to_string())?;
        }
        Ok(&self.answers[..rows * actions])
    }
}
