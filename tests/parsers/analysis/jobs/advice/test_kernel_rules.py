"""Rules about kernels of torch, and the names of kernels and devices that they know."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from parsers import open_run
from parsers.analysis.jobs.advice import FRAMES, review
from parsers.analysis.profiles.efficiency.tensor_cores import multiplies, multiplies_float32, tensor_cores
from tests.amounts import long_after

DATA = Path(os.environ.get("MINDSCOPE_TEST_DATA", "/nowhere")) / "accelerators/kineto"
NEW = ("short_kernels", "float32", "shapes")


@pytest.mark.parametrize("name", [
    "ampere_sgemm_128x64_tn", "volta_sgemm_128x32_nt", "cudnn_infer_volta_scudnn_128x128_relu_medium_nn_v1",
    "void gemmSN_NN_kernel<float, 256, 4, 2, 8, 4, 4, false, cublasGemvTensorStridedBatched<float>>(float)",
    "void implicit_convolve_sgemm<float, float, 1024, 5, 5, 3, 3, 3, 1>(int)", "cutlass_80_simt_sgemm_128x64_8x5_nn_align1",
    "void gemmk1_kernel<float, 256, 5, false>(int)", "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize32x32x8_stage3",
])  # fmt: skip
def test_names_of_float32_products(name: str) -> None:
    assert multiplies_float32(name)
    assert multiplies(name)


@pytest.mark.parametrize("name", [
    "", "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x128_32x3_nn_align4>(int)", "nvjet_tst_192x8_64x8_4x1_v_bz_TNT",
    "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x3_tn", "volta_fp16_s884gemm_fp16_128x64_ldg8_f2f_tn",
    "sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x64x32_stage3", "turing_fp16_s1688gemm_fp16_64x64_sliced1x2_ldg8_f2f_tn",
    "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize64x128x32_stage5",
    "igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt64x64x16", "ampere_gcgemm_64x64_nt", "void magma_sgemmEx_kernel<float, __half>(int)",
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64", "void at::native::vectorized_elementwise_kernel<4, float>",
])  # fmt: skip
def test_names_of_other_kernels(name: str) -> None:
    assert not multiplies_float32(name)


@pytest.mark.parametrize(("chip", "products"), [
    ("NVIDIA A100-SXM4-40GB", "tf32"), ("NVIDIA A100-PG509-200", "tf32"), ("NVIDIA H100 80GB HBM3", "tf32"),
    ("NVIDIA B200", "tf32"), ("NVIDIA L4", "tf32"), ("NVIDIA L40S", "tf32"), ("NVIDIA A10G", "tf32"),
    ("NVIDIA GeForce RTX 3090", "tf32"), ("NVIDIA GeForce RTX 4090 Laptop GPU", "tf32"), ("NVIDIA RTX A6000", "tf32"),
    ("NVIDIA RTX 6000 Ada Generation", "tf32"), ("Tesla V100-SXM2-32GB", "half"), ("Tesla T4", "half"),
    ("NVIDIA TITAN RTX", "half"), ("NVIDIA GeForce RTX 2080 Ti", "half"), ("Quadro RTX 6000", "half"),
    ("Tesla P100-SXM2-16GB", ""), ("NVIDIA GeForce GTX 1660", ""), ("AMD Instinct MI300X VF", ""), ("ARTEMIS", ""), ("", ""),
    ("NVIDIA GeForce GTX 1080 Ti", ""), ("NVIDIA A1000", ""),
])  # fmt: skip
def test_what_tensor_cores_of_a_device_can_multiply(chip: str, products: str) -> None:
    assert tensor_cores(chip) == products


@pytest.mark.skipif(not DATA.is_dir(), reason="needs MINDSCOPE_TEST_DATA")
@pytest.mark.parametrize(("folder", "rules"), long_after(1, [
    ("ns_resolution_v100", {"float32"}), ("ddp_nccl_a100", set()),
    ("dlrm_rank3_of_8", set()),
]))  # fmt: skip
def test_what_recordings_are_told(folder: str, rules: set[str]) -> None:
    profile = next(iter(open_run(DATA / folder).profile.values()))
    found = review({name: profile.frame(name) if profile.gives(name) else None for name in FRAMES}).found
    assert {one.rule for one in found} & set(NEW) == rules
