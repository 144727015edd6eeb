"""Trains fifty steps with Lightning, recorded by the adapter's Logger.   DIRECTORY"""

from __future__ import annotations

import sys
import tempfile

import lightning
import torch
from mindscope_record.adapters.lightning import Logger


class Model(lightning.LightningModule):
    def __init__(self, lr: float = 0.1) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.layer = torch.nn.Linear(4, 1)

    def training_step(self, batch: torch.Tensor, index: int) -> torch.Tensor:
        loss = self.layer(batch).square().mean()
        self.log("loss", loss)
        return loss

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=self.hparams.lr)


def main(directory: str) -> None:
    lightning.seed_everything(0)
    torch.set_num_threads(1)
    data = torch.utils.data.DataLoader(torch.randn(200, 4), batch_size=8)
    with tempfile.TemporaryDirectory() as root:
        trainer = lightning.Trainer(
            max_epochs=2, logger=Logger(directory), log_every_n_steps=5, accelerator="cpu", default_root_dir=root,
            enable_progress_bar=False, enable_model_summary=False,
        )  # fmt: skip
        trainer.fit(Model(), data)


main(sys.argv[1])
