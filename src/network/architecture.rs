//! What a network computes from one flat parameter tensor.

use super::{
    ArchitectureError, Kind, Settings, TensorError,
    color_set::ColorSet,
    color_shared::ColorShared,
    mlp::{BoundMlp, Mlp},
    packed::PackedNetwork,
    parameters::{Layout, ParameterView},
    ready::{Compile, Precision, Ready},
};
use crate::{
    encoding::ColorLayout,
    platform::transfers::{Waiting, to_device},
    random::Stream,
};
use std::ops::Range;
use tch::{Device, Tensor};

/// A network without its parameters: their layout, and the function they define.
///
/// The parameters are one flat f32 tensor `[num_parameters]`, so that clipping is one norm, an optimizer step a handful of
/// kernels, a snapshot one copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Architecture {
    form: Form,
    layout: Layout,
    inputs: usize,
    outputs: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Form {
    Mlp(Mlp),
    ColorShared(ColorShared),
    ColorSet(ColorSet),
}

impl Architecture {
    /// The network of `settings` from rows of `inputs` numbers to `outputs` numbers. `colors` says where rows and answers hold the colours
    /// of the game; an `mlp` does not ask.
    ///
    /// # Errors
    /// A length outside what its setting's documentation allows; a network by colour where there are none, or of other lengths.
    pub fn new(
        settings: &Settings,
        inputs: usize,
        outputs: usize,
        colors: Option<&ColorLayout>,
    ) -> Result<Self, ArchitectureError> {
        let check = ArchitectureError::check;
        check("the length of an info state", inputs, 1..=1 << 20)?;
        check("the number of actions", outputs, 1..=1 << 20)?;
        check("network.hidden_size", settings.hidden_size, 1..=65_536)?;
        check("network.num_layers", settings.num_layers, 0..=64)?;
        let kind = settings.kind.name();
        let colors = || colors.ok_or(ArchitectureError::NoColors { kind });
        let mut layout = Layout::default();
        let form = match settings.kind {
            Kind::Mlp => {
                let mut widths = vec![inputs];
                widths.resize(1 + settings.num_layers, settings.hidden_size);
                widths.push(outputs);
                let activation = settings.activation;
                Form::Mlp(Mlp::append(&mut layout, "net", &widths, activation))
            }
            Kind::ColorShared => Form::ColorShared(ColorShared::append(
                &mut layout,
                settings,
                inputs,
                outputs,
                colors()?,
            )?),
            Kind::ColorSet => Form::ColorSet(ColorSet::append(
                &mut layout,
                settings,
                inputs,
                outputs,
                colors()?,
            )?),
        };
        Ok(Self {
            form,
            layout,
            inputs,
            outputs,
        })
    }

    /// Numbers in an input row.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Numbers in an output row.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Elements of the flat parameter tensor.
    pub fn num_parameters(&self) -> usize {
        self.layout.numel()
    }

    /// The named parts of the flat tensor in the order in which they lie there, from the input on; the output layer's are the last.
    pub fn layout(&self) -> &[ParameterView] {
        self.layout.views()
    }

    /// Where the weights and biases of the output layer lie in the flat tensor, one after the other. Multiplied by a number, they multiply the
    /// answers.
    pub fn output_layer(&self) -> Range<usize> {
        let parts = match &self.form {
            Form::Mlp(_) | Form::ColorShared(_) => 2,
            Form::ColorSet(network) => network.output_parts(),
        };
        let first = self.layout().len().checked_sub(parts);
        let start = first.and_then(|first| self.layout().get(first));
        start.map_or(0, |view| view.offset)..self.num_parameters()
    }

    /// Initial parameters `[num_parameters]`, drawn in layout order from `stream` alone, so that they are the same on every machine: weights
    /// and biases uniform in `±1 / sqrt(fan_in)`, and the exceptions that an architecture names.
    pub fn initial(&self, stream: &mut Stream) -> Vec<f32> {
        let mut parameters = Vec::with_capacity(self.num_parameters());
        for view in self.layout() {
            view.initial.extend(&mut parameters, view.numel(), stream);
        }
        parameters
    }

    /// `rows` (`[batch, inputs]`) to `[batch, outputs]` under the parameters `flat`, recorded for gradients where those are on.
    ///
    /// # Errors
    /// Shapes or devices that do not fit, and failures of the device.
    pub fn forward(&self, flat: &Tensor, rows: &Tensor) -> Result<Tensor, TensorError> {
        let views = self.layout.split(flat)?;
        match &self.form {
            Form::Mlp(network) => network.forward(&views, rows),
            Form::ColorShared(network) => network.forward(&views, rows),
            Form::ColorSet(network) => network.forward(&views, rows),
        }
    }

    /// Prepares `flat` (`[num_parameters]`) for repeated forward passes without gradients. The result **shares** `flat`'s memory and sees
    /// what is written there later.
    ///
    /// # Errors
    /// A tensor of another length, and failures of the device.
    pub fn bind(&self, flat: &Tensor) -> Result<Bound, TensorError> {
        let _guard = tch::no_grad_guard();
        let views = self.layout.split(&flat.f_detach()?)?;
        Ok(Bound(match &self.form {
            Form::Mlp(network) => BoundForm::Mlp(network.bind(&views)?),
            Form::ColorShared(network) => BoundForm::ColorShared(network.clone(), views),
            Form::ColorSet(network) => BoundForm::ColorSet(network.clone(), views),
        }))
    }

    /// As [`Architecture::bind`], on a copy of a weight snapshot (`[num_parameters]`).
    ///
    /// # Errors
    /// A snapshot of another length, and failures of the device.
    pub fn bind_snapshot(&self, snapshot: &[f32], device: Device) -> Result<Bound, TensorError> {
        let flat = Tensor::f_from_slice(snapshot)?;
        let flat = match device {
            Device::Cpu => flat,
            device => to_device(&flat, device, Waiting::Blocking)?,
        };
        self.bind(&flat)
    }

    /// As [`Architecture::bind`], in a number format and as a function traced or not, for whoever wants to share it among threads. In f32 the
    /// result shares `flat`'s memory, too.
    ///
    /// # Errors
    /// A tensor of another length, and failures of the device.
    pub fn ready(
        &self,
        flat: &Tensor,
        precision: Precision,
        compile: Compile,
    ) -> Result<Ready, TensorError> {
        Ready::new(self, flat, precision, compile)
    }

    /// Whether [`Architecture::pack`] gives a network here.
    pub fn packs(&self) -> bool {
        match &self.form {
            Form::Mlp(network) => PackedNetwork::supports(network.activation()),
            Form::ColorSet(network) => PackedNetwork::supports(network.activation),
            Form::ColorShared(_) => false,
        }
    }

    /// Packs a weight snapshot (`[num_parameters]`) for inference on the CPU; `None` for a network or a processor that this is not made for.
    ///
    /// # Errors
    /// A snapshot of another length.
    pub fn pack(&self, snapshot: &[f32]) -> Result<Option<PackedNetwork>, TensorError> {
        if snapshot.len() != self.num_parameters() {
            return Err(TensorError::new(format!(
                "{} parameters for a network of {}",
                snapshot.len(),
                self.num_parameters()
            )));
        }
        if !self.packs() {
            return Ok(None);
        }
        let views = self.layout().iter();
        let parts: Vec<_> = views.map(|view| &snapshot[view.range()]).collect();
        Ok(match &self.form {
            Form::Mlp(_) => Some(PackedNetwork::mlp(&parts)),
            Form::ColorSet(network) => Some(PackedNetwork::color_set(network, &parts)),
            Form::ColorShared(_) => None,
        })
    }
}

/// A network with its parameters, split once, for inference. It can move to another thread.
pub struct Bound(BoundForm);

enum BoundForm {
    Mlp(BoundMlp),
    ColorShared(ColorShared, Vec<Tensor>),
    ColorSet(ColorSet, Vec<Tensor>),
}

impl Bound {
    /// The same network once more; parameters are in memory once.
    pub(super) fn share(&self) -> Self {
        let again = |views: &[Tensor]| views.iter().map(Tensor::shallow_clone).collect();
        Self(match &self.0 {
            BoundForm::Mlp(network) => BoundForm::Mlp(network.share()),
            BoundForm::ColorShared(network, views) => {
                BoundForm::ColorShared(network.clone(), again(views))
            }
            BoundForm::ColorSet(network, views) => {
                BoundForm::ColorSet(network.clone(), again(views))
            }
        })
    }

    /// `rows` (`[batch, inputs]`, of the parameters' kind, unchanged) to a fresh `[batch, outputs]`; records nothing for gradients.
    ///
    /// # Errors
    /// Rows of another length, kind or device, and failures of the device.
    pub fn forward(&self, rows: &Tensor) -> Result<Tensor, TensorError> {
        let _guard = tch::no_grad_guard();
        match &self.0 {
            BoundForm::Mlp(network) => network.forward(rows),
            BoundForm::ColorShared(network, views) => network.forward(views, rows),
            BoundForm::ColorSet(network, views) => network.forward(views, rows),
        }
    }
}

#[cfg(test)]
mod tests;
