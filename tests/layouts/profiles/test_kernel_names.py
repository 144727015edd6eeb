"""Labels of kernels: names of public traces, and names that are no signatures."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from layouts.profiles.kernel_names import kernel_label, kernel_labels
from parsers.profiler.frame_parts import ProfileInput
from parsers.profiler.kineto.frame_readers import read_all

SAMPLES = Path(os.environ.get("MINDSCOPE_TEST_DATA", "/nowhere")) / "accelerators/kineto"
SIGNATURES = {
    "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>, at::detail::Array<char*, 3> >"
    "(int, at::native::AddFunctor<float>, at::detail::Array<char*, 3>)":
        "vectorized_elementwise_kernel<4, AddFunctor<float>, Array<char*, 3>>",
    "std::enable_if<(((8)>(0)))&&vllm::_typeConvert<c10::BFloat16>::exists, void>::type vllm::rms_norm<c10::BFloat16, 8>(long)":
        "vllm::rms_norm<BFloat16, 8>",
    "void at::native::(anonymous namespace)::layer_norm_kernel<c10::BFloat16, float>(int, float)":
        "layer_norm_kernel<BFloat16, float>",
    "void at::native::elementwise_kernel<128, at::native::tanh_kernel(at::TensorIteratorBase&)::{lambda(int)#1}>(int, float)":
        "elementwise_kernel<128, tanh_kernel(TensorIteratorBase&)::{lambda(int)#1}>",
    "void cudnn::ops::nchwToNhwcKernel<float, (cudnnKernelDataType_t)2>(cudnn::ops::params<float>)":
        "cudnn::ops::nchwToNhwcKernel<float, (cudnnKernelDataType_t)2>",
}  # fmt: skip


@pytest.mark.parametrize("name", SIGNATURES)
def test_a_signature_is_its_function_and_template_arguments(name: str) -> None:
    assert kernel_label(name) == SIGNATURES[name]


@pytest.mark.parametrize("name", ["volta_sgemm_64x64_nt", "Default/MatMul-op1", "", "a)", ")(", "(int)", "f<(a)", "f<g(int)",
                                  "Memset (Device)"])  # fmt: skip
def test_other_names_are_their_own_labels(name: str) -> None:
    assert kernel_label(name) == name


def test_labels_that_would_be_alike_are_whole_names() -> None:
    names = ["void f<int>(int)", "void f<int>(float)", "void g<int>(int)", "g<int>"]
    assert list(kernel_labels(names).values()) == ["void f<int>(int)", "void f<int>(float)", "void g<int>(int)", "g<int>"]


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="needs the shared samples")
@pytest.mark.parametrize("name", ["h100", "ddp_nccl_a100"])
def test_kernels_of_real_traces_are_shorter_and_told_apart(name: str) -> None:
    (path,) = (SAMPLES / name).glob("*.json*")
    executions = read_all(ProfileInput(str(path), path.name, {}))["kernels"].frame
    kernels = executions.loc[executions["core"] == "GPU_KERNEL", "name"].astype(str).unique()
    signatures = [one for one in kernels if one.startswith("void ")]
    labels = kernel_labels(kernels)
    assert len(set(labels.values())) == len(kernels) > 10
    assert all(len(labels[one]) < len(one) - 20 for one in signatures)
