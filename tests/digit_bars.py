"""Few made-up digits in place of MNIST: a bar whose length is the digit."""

import torch

from torchalu.tasks import Digits

ROWS = {"train": 60, "validation": 20, "test": 30}


def bars(split, root=None):
    labels = torch.arange(ROWS[split]) % 10
    images = torch.zeros(len(labels), 28, 28, dtype=torch.uint8)
    for image, label in zip(images, labels, strict=True):
        image[8:20, 4 : 4 + 2 * int(label)] = 255
    return Digits(images, labels)


def splits():
    return tuple(bars(split) for split in ("train", "validation", "test"))
