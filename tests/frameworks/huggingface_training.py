"""Trains fifty steps with Transformers, recorded by the adapter's Callback.   DIRECTORY"""

from __future__ import annotations

import sys
import tempfile

import torch
from mindscope_record.adapters.huggingface import Callback
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed


class Sentences(torch.utils.data.Dataset):
    def __init__(self, count: int) -> None:
        generator = torch.Generator().manual_seed(0)
        self.tokens = torch.randint(0, 30, (count, 6), generator=generator)

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, at: int) -> dict[str, torch.Tensor]:
        return {"input_ids": self.tokens[at], "labels": self.tokens[at][0] % 2}


def main(directory: str) -> None:
    set_seed(0)
    torch.set_num_threads(1)
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
    model = BertForSequenceClassification(BertConfig(vocab_size=30, **sizes))
    with tempfile.TemporaryDirectory() as root:
        arguments = TrainingArguments(
            output_dir=root, max_steps=50, per_device_train_batch_size=4, logging_steps=5, eval_strategy="steps", eval_steps=25,
            save_steps=50, report_to=[], use_cpu=True, disable_tqdm=True, learning_rate=0.01,
        )  # fmt: skip
        callbacks = [Callback(directory)]
        Trainer(model, arguments, train_dataset=Sentences(200), eval_dataset=Sentences(16), callbacks=callbacks).train()


main(sys.argv[1])
