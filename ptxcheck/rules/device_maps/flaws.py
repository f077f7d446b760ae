"""Rules about tensor maps that a kernel makes."""

from collections.abc import Callable

from ...descriptors.device.flaws import FlawKind, device_flaws
from ..rule import Hit, Hits, KernelView, Rule, Severity
from .map_kernel import KERNEL


def of_flaw(kind: FlawKind) -> Callable[[KernelView], Hits]:
    """Return a check for one kind of flaw."""

    def check(view: KernelView) -> Hits:
        for flaw in view.get(device_flaws):
            if flaw.kind is kind:
                yield Hit(flaw.point, flaw.text, flaw.related)

    return check


RULES = (
    # Checks: each value of `tensormap.replace`, by range and residue: rank above 4, boxes outside 1 to 256, element
    # strides outside 1 to 8, sizes of 0, addresses and strides that are no multiple of 16, a stride beyond the fourth.
    # Entries behind the first dimension count where a copy with so many coordinates uses the map.
    # Why: the limits are those of the host's encode, which refuses such maps; nobody refuses them here. Source: PTX
    # ISA 9.7.9.27; cuda.h, cuTensorMapEncodeTiled.
    # Not checked: numbers that may be legal for some input.
    Rule(
        id="TD050",
        name="illegal-map-field",
        severity=Severity.UNDEFINED,
        section="PTX ISA §9.7.9.27",
        summary="A field of a tensor map is replaced by a number that no map can have there.",
        consequence="The copy that uses the map faults or moves the wrong bytes; ptxas does not look at the numbers.",
        advice=(
            "Keep boxes to 1 to 256, element strides to 1 to 8, sizes above 0, addresses and strides to multiples of "
            "16; skip empty tensors."
        ),
        example=KERNEL.variant("""
=     .shared .align 1024 .b8 tile[8192];
-     .shared .align 1024 .b8 tile[65536];
+     .shared .align 1024 .b8 tile[32768];

=     tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [map], 1, 64;
-     tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [map], 1, 512; // expect: TD050
+     tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [map], 1, 256;

=     mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 8192;
-     mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 65536;
+     mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 32768;
"""),
        check=of_flaw(FlawKind.FIELD),
    ),
    # Checks: the rank of maps that the kernel makes, against the coordinates of the copies.
    # Why: `tensormap.replace.tile.rank` takes the rank less one.
    # Not checked: maps copied from the host's.
    Rule(
        id="TD051",
        name="map-rank-not-zero-based",
        severity=Severity.UNDEFINED,
        section="PTX ISA §9.7.9.27",
        summary="The rank is replaced by the number of dimensions, not by one less.",
        consequence="The hardware takes the map for one of another rank: the copy faults.",
        advice="Write the number of dimensions less one: 1 for a matrix.",
        example=KERNEL.variant("""
-     tensormap.replace.tile.rank.shared::cta.b1024.b32 [map], 2; // expect: TD051
+     tensormap.replace.tile.rank.shared::cta.b1024.b32 [map], 1;

      tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [map], 0, 2048;
-     tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [map], 2, 1;
-     tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [map], 2, 1;
-     tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [map], 1, 2097152;
-     tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [map], 2, 1;
"""),
        check=of_flaw(FlawKind.RANK),
    ),
    # Checks: maps that the kernel makes whole, by the rules of the host's encode: inner box against swizzle span and
    # element size, size of the box, types against fill modes and interleave.
    # Why: the driver refuses such maps on the host; nobody does here. Source: cuda.h, cuTensorMapEncodeTiled;
    # docs/tensor-maps.md.
    # Not checked: maps copied from the host's; what is legal for some input.
    Rule(
        id="TD052",
        name="map-fields-illegal-together",
        severity=Severity.UNDEFINED,
        section="PTX ISA §9.7.9.27",
        summary="Fields of a tensor map are replaced by numbers that are not legal together.",
        consequence="The copy that uses the map faults or moves the wrong bytes.",
        advice="Make the inner box a multiple of 16 bytes within the swizzle span, and the box fit shared memory.",
        example=KERNEL.variant("""
-     tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [map], 0, 128; // expect: TD052
-     tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [map], 1, 32;
+     tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [map], 0, 64;
+     tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [map], 1, 64;
"""),
        check=of_flaw(FlawKind.TOGETHER),
    ),
    # Checks: the first stride of maps that the kernel makes, where it is exactly a row divided by 16 since PTX 8.5, or
    # exactly a row in bytes before.
    # Why: the operand was in units of 16 bytes until CUDA 12.4 and is in bytes since. Source: CUTLASS,
    # copy_sm90_desc.hpp, the switch at CUDA 12.5.
    # Not checked: rows with padding; strides that pass through memory.
    Rule(
        id="TD053",
        name="map-stride-unit-mismatch",
        severity=Severity.WRONG_RESULT,
        section="PTX ISA §9.7.9.27",
        summary="A stride is replaced in the unit of another version of PTX.",
        consequence="Rows are read 16 times too close, or too far apart.",
        advice="Give bytes from PTX 8.5 (CUDA 12.5) on, and bytes divided by 16 before.",
        example=KERNEL.variant("""
      mov.u32 %r1, 0;
-     shr.u64 %rd2, 2048, 4;

-     tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [map], 0, %rd2; // expect: TD053
+     tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [map], 0, 2048;
"""),
        check=of_flaw(FlawKind.STRIDE_UNIT),
    ),
    # Checks: element types 8, 9 and 10 of maps that the kernel makes, where the map is legal only if the number is the
    # driver's.
    # Why: the two numberings differ in these three. Source: PTX ISA §9.7.9.27; cuda.h, CUtensorMapDataType.
    # Not checked: maps that are legal with both types.
    Rule(
        id="TD054",
        name="driver-element-type",
        severity=Severity.WRONG_RESULT,
        section="PTX ISA §9.7.9.27",
        summary="The element type of a map is replaced by its number in cuda.h, which PTX gives to another type.",
        consequence="The hardware counts in elements of another size.",
        advice=(
            "Use the numbers of PTX: 8 f32.ftz, 9 f64, 10 bf16. In cuda.h 8 is FLOAT64, 9 BFLOAT16 and 10 "
            "FLOAT32_FTZ."
        ),
        example=KERNEL.variant("""
=     tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [map], 6;
-     tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [map], 9; // expect: TD054
+     tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [map], 10;
"""),
        check=of_flaw(FlawKind.TYPE_NUMBER),
    ),
    # Checks: maps that the kernel fills with zeros, or does not fill at all, against the fields that every map needs.
    # Why: zero stands for a legal choice in interleave, swizzle and fill mode only.
    # Not checked: fields that are set on some paths only.
    Rule(
        id="TD055",
        name="map-field-not-set",
        severity=Severity.UNDEFINED,
        section="PTX ISA §9.7.9.27",
        summary="A tensor map is made from zeros, or from nothing, and used before all its fields are set.",
        consequence="The copy faults, or moves bytes that the other fields do not mean.",
        advice="Replace address, rank, element type, and boxes, sizes, strides and element strides of every dimension.",
        example=KERNEL.variant("""
+     tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [map], 1, 1;

      cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes // expect: TD055
"""),
        check=of_flaw(FlawKind.NOT_SET),
    ),
    # Checks: tensor-map operands that are addresses of shared variables.
    # Why: the map may be in global, constant or parameter memory; ptxas does not look behind a register.
    # Not checked: addresses that pass through memory.
    Rule(
        id="TD056",
        name="map-in-shared-memory",
        severity=Severity.UNDEFINED,
        section="PTX ISA §9.7.9.26.5.2",
        summary="A copy is given a tensor map that is in shared memory.",
        consequence="The copy faults: the hardware reads maps in global, constant and parameter memory.",
        advice="Copy the map to global memory with tensormap.cp_fenceproxy, and use that copy.",
        example=KERNEL.variant("""
      mov.u32 %r1, 0;
-     mov.u64 %rd2, map;
-     cvta.shared.u64 %rd3, %rd2;

      cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes // expect: TD056
-         [tile], [%rd3, {%r1, %r1}], [bar];
+         [tile], [%rd0, {%r1, %r1}], [bar];
"""),
        check=of_flaw(FlawKind.SHARED),
    ),
    # Checks: changes of maps in global memory behind a load with the same map, where nothing on the way could wait for
    # it.
    # Why: the map must not change while a copy that uses it is outstanding. Stores are looked at by BG012.
    # Not checked: whether a wait on the way is for the right barrier and phase.
    Rule(
        id="TD057",
        name="map-modified-during-load",
        severity=Severity.UNDEFINED,
        section="PTX ISA §9.7.9.26.1",
        summary="A tensor map is changed while a load that reads it is under way.",
        consequence="The load may read the new map, or a mixture.",
        advice="Wait on the mbarrier of the load before changing its map.",
        example=KERNEL.variant("""
= WAIT:
=     mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
=     @!%p1 bra WAIT;
+ WAIT0:
+     mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
+     @!%p1 bra WAIT0;
      tensormap.replace.tile.global_address.global.b1024.b64 [%rd0], %rd0; // expect: TD057
      fence.proxy.tensormap::generic.release.gpu;
- WAIT:
-     mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
-     @!%p1 bra WAIT;
"""),
        check=of_flaw(FlawKind.REUSED),
    ),
    # Checks: copies through maps that other threads of the block made, on all paths of which nobody acquired the map
    # since. PX004 looks at a thread's own changes.
    # Why: copies read maps through a proxy of its own; a barrier alone does not reach it. Source: PTX ISA §9.7.14.4 and
    # 9.7.14.17.
    # Not checked: maps that other blocks or kernels changed.
    Rule(
        id="TD058",
        name="missing-tensormap-acquire",
        severity=Severity.WRONG_RESULT,
        section="PTX ISA §9.7.14.4",
        summary="A tensor map that other threads changed is used with no acquire of the tensormap proxy.",
        consequence="The copy may use the old map, or a mixture.",
        advice="Execute fence.proxy.tensormap::generic.acquire on the map behind the barrier, before the copy.",
        example=KERNEL.variant("""
= .visible .entry kernel(.param .u64 workspace, .param .u64 source) .reqntid 32
  .visible .entry kernel(.param .u64 workspace, .param .u64 source) .reqntid 64

=     mov.u32 %r1, 0;
      mov.u32 %r1, 0;
      setp.ge.u32 %p2, %r0, 32;
      @%p2 bra SYNC;

=     fence.proxy.tensormap::generic.acquire.gpu [%rd0], 128;
=     @%p0 bra DONE;
  SYNC:
      bar.sync 0;
      setp.ne.u32 %p3, %r0, 32;
      @%p3 bra DONE;
+     fence.proxy.tensormap::generic.acquire.gpu [%rd0], 128;

      cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes // expect: TD058
"""),
        check=of_flaw(FlawKind.UNACQUIRED),
    ),
    # Checks: replacements in shared memory from which no path leads to a copy of the map, other than over new zeros.
    # Why: tensor copies read maps in global, constant or parameter memory.
    # Not checked: maps that loads or bulk copies may read: they may be copied that way.
    Rule(
        id="TD059",
        name="map-never-copied-to-global",
        severity=Severity.WRONG_RESULT,
        section="PTX ISA §9.7.14.17",
        summary="A tensor map is made in shared memory and never copied to where copies can read it.",
        consequence="Copies use whatever map was in global memory before.",
        advice="Copy it with tensormap.cp_fenceproxy once its fields are replaced.",
        example=KERNEL.variant("""
      tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [map], 3; // expect: TD059

+     tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd0], [map], 128;
"""),
        check=of_flaw(FlawKind.THROWN_AWAY),
    ),
    # Checks: copies through changed maps, where every acquire of the kernel is of a map at another offset from the
    # same pointer.
    # Why: an acquire is about the 128 bytes that it names.
    # Not checked: fences whose address is not followed.
    Rule(
        id="TD066",
        name="mismatched-tensormap-acquire",
        severity=Severity.WRONG_RESULT,
        section="PTX ISA §9.7.14.4",
        summary="The fences between the change of a tensor map and its use acquire other maps.",
        consequence="The copy may use the old map, or a mixture.",
        advice="Execute fence.proxy.tensormap::generic.acquire on the map that the copy uses.",
        example=KERNEL.variant("""
-     add.u64 %rd3, %rd0, 128;
-     fence.proxy.tensormap::generic.acquire.gpu [%rd3], 128;
+     fence.proxy.tensormap::generic.acquire.gpu [%rd0], 128;

      cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes // expect: TD066
"""),
        check=of_flaw(FlawKind.OTHER_ACQUIRED),
    ),
    # Checks: `tensormap.cp_fenceproxy` of a map of which one thread has replaced a field, with no barrier of the warp
    # or the block on any way between the two; and a field that one thread replaces where others have stored zeros
    # before.
    # Why: `.sync` lets the lanes of the warp wait for each other, and orders no access of one lane for another, as a
    # barrier does. CUTLASS and Triton have `bar.warp.sync` there. Source: PTX ISA §9.7.14.2 (`bar.warp.sync` guarantees
    # memory ordering), 9.7.14.17.
    # Not checked: maps whose place was not followed, and maps that several threads make.
    Rule(
        id="TD067",
        name="map-copied-without-barrier",
        severity=Severity.WRONG_RESULT,
        since="0.2",
        section="PTX ISA §9.7.14.2, 9.7.14.17",
        summary="Threads take turns in making a tensor map, with no barrier between.",
        consequence="Lanes may copy what was there before a change, or clear the field behind it.",
        advice="Put `bar.warp.sync` (`__syncwarp`) before the first `tensormap.replace` and behind the last.",
        example=KERNEL.variant("""
+     bar.warp.sync -1;
-     // expect: TD067
      tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd0], [map], 128;
"""),
        check=of_flaw(FlawKind.UNMET),
    ),
)
