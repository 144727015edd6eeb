"""Digits, converted from the ONNX model digits.onnx.

For inference: dropout is the identity and batch normalization uses recorded statistics. Shapes are in comments, `?` is a size
that may vary. Weights are in digits.ckpt.
"""

import mindspore as ms
from mindspore import Parameter, nn, ops
from mindspore.common.initializer import initializer


def tensor(*shape, dtype=ms.float32):
    """Return a weight that the checkpoint fills."""
    return Parameter(initializer("zeros", shape, dtype), requires_grad=False)


class MissingQuickGelu(nn.Cell):
    # com.microsoft.QuickGelu '/head/QuickGelu': no mapping for this operator of the domain com.microsoft
    # inputs: /head/out float32 (2, 10)
    # outputs: /head/act

    def construct(self, *inputs):
        raise NotImplementedError("com.microsoft.QuickGelu '/head/QuickGelu': no mapping for this operator of the domain com.microsoft")


class Features(nn.Cell):
    """6 nodes: 3 Conv, 3 Relu."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, 1, pad_mode="pad", padding=1, has_bias=True)
        self.conv2 = nn.Conv2d(8, 8, 3, 1, pad_mode="pad", padding=1, has_bias=True)
        self.conv3 = nn.Conv2d(8, 8, 3, 1, pad_mode="pad", padding=1, has_bias=True)

    def construct(self, x):
        x = self.conv1(x)  # (2, 8, 16, 16)
        x = ops.relu(x)
        x = self.conv2(x)
        x = ops.relu(x)
        x = self.conv3(x)
        x = ops.relu(x)
        return x


class Digits(nn.Cell):
    """11 nodes: 3 Conv, 3 Relu, 1 GlobalAveragePool, 1 Reshape, 1 Gemm, 1 QuickGelu and others."""

    def __init__(self):
        super().__init__()
        self.features = Features()
        self.head1 = nn.Dense(8, 10)
        self.head2 = MissingQuickGelu()

    def construct(self, x):
        x = self.features(x)  # (2, 8, 16, 16)
        x = ops.mean(x, (2, 3), True)  # (2, 8, 1, 1)
        x = x.reshape(2, -1)  # (2, 8)
        x = self.head1(x)  # (2, 10)
        x = self.head2(x)
        x = ops.softmax(x, -1)  # (2, 10)
        return x


def load(*checkpoints):
    """Return the network with the weights of checkpoint files."""
    network = Digits()
    for checkpoint in checkpoints:
        ms.load_param_into_net(network, ms.load_checkpoint(checkpoint))
    return network.set_train(False)
