"""Where the host's tensor map and the kernel disagree."""

from __future__ import annotations

from dataclasses import replace

import pytest

import ptxcheck
from ptxcheck.config import Config
from ptxcheck.descriptors.agreement import Topic
from ptxcheck.descriptors.contract import Contract, parameter_place
from ptxcheck.launch import Launch
from ptxcheck.launches.hints import (
    LaunchError,
    hint_from_table,
    parse_tensor_map,
    tensor_maps_of,
)
from ptxcheck.parser import parse_module
from ptxcheck.source import Source
from ptxcheck.verdict import Property, VerdictKind
from ptxcheck.view import KernelView

KERNEL = """
.version 8.6
.target sm_90a
.address_size 64
.visible .entry _Z4copy(.param .u32 n, .param .align 64 .b8 _Z4copy_param_1[256]) .reqntid 32
{
    .reg .pred %p<4>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<8>;
    .shared .align 1024 .b8 tile[16384];
    .shared .align 8 .b64 full;
    mov.b64 %rd0, _Z4copy_param_1;
    cvta.param.u64 %rd1, %rd0;
    add.u64 %rd1, %rd1, 128;
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, 0;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra DONE;
    mbarrier.init.shared::cta.b64 [full], 1;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 8192;
    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile + OFFSET],
        [%rd1, {%r1, %r1}], [full];
AGAIN:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;
    @!%p1 bra AGAIN;
DONE:
    ret;
}
"""
FITS = "type=fp16 shape=1024,1024 box=64,64 swizzle=128B"


def view(spec: str, offset: int = 0, name: str = "param_1+128") -> KernelView:
    module = parse_module(Source("copy.ptx", KERNEL.replace("OFFSET", str(offset))))
    kernel = KernelView(module, module.functions[0], Launch((32, 1, 1), True))
    return replace(kernel, tensor_maps=parse_tensor_map(f"{name}={spec}").tensor_maps)


def topics(spec: str, offset: int = 0) -> list[Topic]:
    return [one.topic for one in Contract(view(spec, offset)).disagreements]


def test_a_map_that_fits() -> None:
    assert topics(FITS) == []
    assert list(Contract(view(FITS)).box_bytes.values()) == [8192]


@pytest.mark.parametrize(
    ("spec", "offset", "topic"),
    [
        ("type=fp16 shape=1024,1024,8 box=64,64,1 swizzle=128B", 0, Topic.RANK),
        ("type=fp16 shape=1024,1024 box=64,32 swizzle=128B", 0, Topic.BYTES),
        ("type=uint8 shape=1024,1024 box=64,64", 0, Topic.BYTES),
        (FITS, 512, Topic.PLACE),
        (FITS, 9216, Topic.ROOM),
        ("type=fp16 shape=1024,1024 box=16,256 swizzle=128B", 0, Topic.ROOM),
    ],
)
def test_what_does_not_fit(spec: str, offset: int, topic: Topic) -> None:
    assert topic in topics(spec, offset)


def test_swizzled_boxes_below_the_repeat_may_start_anywhere() -> None:
    assert topics("type=fp16 shape=1024,1024 box=64,4 swizzle=128B", 512) == [Topic.BYTES]


def test_names_of_parameters() -> None:
    kernel = parse_module(Source("copy.ptx", KERNEL.replace("OFFSET", "0"))).functions[0]
    place = ("_Z4copy_param_1", 128)
    assert parameter_place(kernel, "param_1+128") == place
    assert parameter_place(kernel, "_Z4copy_param_1+128") == place
    assert parameter_place(kernel, "param+192") == place
    assert parameter_place(kernel, "param_2") is None
    assert Contract(view(FITS, name="param_1")).bindings == {}


def test_the_barrier_counts_the_described_box() -> None:
    source = Source("copy.ptx", KERNEL.replace("OFFSET", "0"))

    def balance(spec: str) -> VerdictKind:
        hints = (parse_tensor_map(f"param_1+128={spec}"),) if spec else ()
        report = ptxcheck.check(source, config=Config(launch=hints))
        verification = report.kernels[0].verification
        assert verification is not None
        return next(v.kind for v in verification.verdicts if v.property is Property.DEADLOCK_FREEDOM)

    assert balance("") is VerdictKind.ASSUMES
    assert balance(FITS) is VerdictKind.PROVED
    assert balance("type=fp16 shape=1024,1024 box=64,128 swizzle=128B") is VerdictKind.VIOLATED


def test_a_comment_describes_a_map() -> None:
    wrong = "type=fp16 shape=1024,1024 box=64,32 swizzle=128B"
    text = KERNEL.replace("OFFSET", "0").replace(
        ".visible", f"// ptxcheck: tensor-map param_1+128={wrong}\n.visible"
    )
    report = ptxcheck.check(Source("copy.ptx", text), config=Config(verify=False))
    assert [finding.rule for finding in report.active] == ["TD063"]


def test_a_comment_names_no_file() -> None:
    text = KERNEL.replace("OFFSET", "0").replace(
        ".visible", "// ptxcheck: tensor-map n=secret.toml\n.visible"
    )
    report = ptxcheck.check(Source("copy.ptx", text), config=Config(verify=False))
    assert any("not the name of a file" in note.message for note in report.notes)


@pytest.mark.parametrize(
    "text", ["a", "a=", "a=type=fp16", "a=type=fp99 shape=8 box=8", "=type=fp16", "a=none.toml"]
)
def test_bad_descriptions_are_located(text: str) -> None:
    with pytest.raises(LaunchError, match="--tensor-map"):
        parse_tensor_map(text)


def test_a_description_that_no_driver_encodes_is_refused_with_the_rule() -> None:
    with pytest.raises(LaunchError, match=r"boxDim\[1\]: boxDim must be 1 to 256"):
        parse_tensor_map("a=type=fp16 shape=1024,1024 box=64,512")


def test_a_configuration_describes_a_map() -> None:
    table = {"tensor-maps": {"param_1": {"type": "fp16", "shape": [64, 64], "box": [64, 64]}}}
    (name, tensor_map), *rest = hint_from_table("copy*", table, "configuration").tensor_maps
    assert (name, tensor_map.rank, rest) == ("param_1", 2, [])
    with pytest.raises(LaunchError, match="box"):
        hint_from_table("*", {"tensor-maps": {"a": {"type": "fp16", "shape": [64, 64]}}}, "configuration")


def test_a_parameter_must_hold_a_map() -> None:
    kernel = parse_module(Source("copy.ptx", KERNEL.replace("OFFSET", "0"))).functions[0]
    maps, complaints = tensor_maps_of(kernel, [parse_tensor_map(f"n={FITS}")])
    assert maps == ()
    assert "too small" in complaints[0]
    assert tensor_maps_of(kernel, [parse_tensor_map(f"other*: param_1={FITS}")]) == ((), ())
    assert "no parameter" in tensor_maps_of(kernel, [parse_tensor_map(f"_Z4copy: q={FITS}")])[1][0]
