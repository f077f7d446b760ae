"""Modifier words that analyses test: `operation.has(Mod.READ)`.

Only words whose presence changes what an instruction means to an analysis are here; types, shapes and other
values are read through slots (`operation.slots["type"]`).
"""

from __future__ import annotations

from enum import StrEnum


class Mod(StrEnum):
    """A modifier as it is written."""

    # clusterlaunchcontrol
    IS_CANCELED = ".is_canceled"

    # memory order and scope
    WEAK = ".weak"
    RELAXED = ".relaxed"
    ACQUIRE = ".acquire"
    RELEASE = ".release"
    ACQ_REL = ".acq_rel"
    SC = ".sc"
    VOLATILE = ".volatile"
    MMIO = ".mmio"
    CTA = ".cta"
    CLUSTER = ".cluster"
    GPU = ".gpu"
    SYS = ".sys"
    GL = ".gl"

    # state spaces
    GLOBAL = ".global"
    SHARED = ".shared"
    SHARED_CTA = ".shared::cta"
    SHARED_CLUSTER = ".shared::cluster"

    # mbarrier
    EXPECT_TX = ".expect_tx"
    NO_COMPLETE = ".noComplete"
    NOINC = ".noinc"
    PARITY = ".parity"
    PHASE_TYPE_PRIMARY = ".phase_type::primary"
    PHASE_TYPE_CONDITIONAL = ".phase_type::conditional"
    LAYOUT_V0 = ".layout::v0"
    LAYOUT_V1 = ".layout::v1"

    # completion of asynchronous copies
    MBARRIER_COMPLETE_TX = ".mbarrier::complete_tx::bytes"
    MBARRIER_ARRIVE_ONE = ".mbarrier::arrive::one"
    BULK_GROUP = ".bulk_group"
    READ = ".read"
    MULTICAST_CLUSTER = ".multicast::cluster"
    MULTICAST_CLUSTER_32B = ".multicast::cluster::32b"
    MULTICAST_CLUSTER_ALL = ".multicast::cluster::all"
    CACHE_HINT = ".L2::cache_hint"
    CP_MASK = ".cp_mask"
    IGNORE_OOB = ".ignore_oob"

    # tensor copies
    TILE = ".tile"
    TILE_GATHER4 = ".tile::gather4"
    TILE_SCATTER4 = ".tile::scatter4"
    IM2COL = ".im2col"
    IM2COL_W = ".im2col::w"
    IM2COL_W_128 = ".im2col::w::128"
    IM2COL_NO_OFFS = ".im2col_no_offs"

    # fences and proxies
    ALIAS = ".alias"
    ASYNC = ".async"
    ASYNC_GENERIC = ".async::generic"
    TENSORMAP_GENERIC = ".tensormap::generic"
    SYNC_RESTRICT_SHARED_CTA = ".sync_restrict::shared::cta"
    SYNC_RESTRICT_SHARED_CLUSTER = ".sync_restrict::shared::cluster"

    # collectives
    SYNC = ".sync"
    ALIGNED = ".aligned"

    # tcgen05
    CTA_GROUP_1 = ".cta_group::1"
    CTA_GROUP_2 = ".cta_group::2"
    WAIT_LD = ".wait::ld"
    PACK_16B = ".pack::16b"
    UNPACK_16B = ".unpack::16b"
    WAIT_ST = ".wait::st"
    BEFORE_THREAD_SYNC = ".fence::before_thread_sync"
    AFTER_THREAD_SYNC = ".fence::after_thread_sync"
    BLOCK_SCALE = ".block_scale"
    ASHIFT = ".ashift"
    EXCLUSIVE = ".exclusive"

    # setmaxnreg
    INC = ".inc"
    DEC = ".dec"


__all__ = ["Mod"]
