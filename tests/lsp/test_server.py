"""The language server, driven by a real client over the standard streams of a real process."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from pathlib import Path

import pytest
from lsprotocol import types

import ptxcheck
from ptxcheck.config import Config
from tests.limits import WALL_SECONDS as PATIENCE

from .editor import LITTLE, Editor, edit, with_encoding
from .kernels import BAD, GOOD, HANG, HEADER, NESTED, RING, slow

needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")


def is_clean(text: str) -> bool:
    report = ptxcheck.check(ptxcheck.Source("k.ptx", text), config=Config(verify=False))
    return not report.active and not report.problems


def test_the_kernels_are_as_they_say() -> None:
    assert is_clean(GOOD)
    assert is_clean(NESTED)
    assert not is_clean(BAD)
    assert not is_clean(RING)
    assert is_clean(HANG), "only verification sees it"


def test_a_day_at_work(tmp_path: Path) -> None:
    """Open, change, hover, go to the definition, apply a repair."""

    async def story(editor: Editor) -> None:
        assert editor.capabilities is not None
        assert editor.capabilities.hover_provider is not None
        uri = editor.open((tmp_path / "k.ptx").as_uri(), GOOD)
        await editor.codes(uri)

        editor.change(uri, RING)
        (found,) = await editor.codes(uri, "MB003")
        assert editor.marked(uri, found.range).startswith("mbarrier.try_wait.parity")
        assert (found.severity, found.source) == (types.DiagnosticSeverity.Error, "ptxcheck")
        assert found.code_description is not None
        page = Path(found.code_description.href.removeprefix("file://"))
        assert page.read_text(encoding="utf-8").startswith("# MB003 ")
        (related,) = found.related_information or ()
        assert editor.marked(uri, related.location.range).startswith("mbarrier.init")
        assert related.message == "initialised here"

        text = await editor.hover(uri, "mbarrier.try_wait")
        assert text is not None
        rule, _, instruction = text.partition("---")
        assert rule.startswith("**MB003 uninitialised-mbarrier** (hang)")
        assert "Legal here (PTX 8.6, sm_90a)" in instruction
        assert await editor.definition(uri, "bra CONSUMER", 5) == ("CONSUMER", 21)
        assert await editor.definition(uri, "[full]", 2) == ("full", 9)

        (repair, suppress) = await editor.actions(uri, found.range)
        assert (repair.title, repair.edit) == ("Repair MB003 uninitialised-mbarrier", None)
        assert suppress.title == "Suppress MB003 here (add the reason)"
        resolved = await asyncio.wait_for(editor.client.code_action_resolve_async(repair), PATIENCE)
        assert resolved.edit is not None
        repaired = editor.applied(resolved.edit)[uri]
        assert is_clean(repaired)
        (known, _) = await editor.actions(uri, found.range)
        assert known.edit is not None, "what was found once is offered at once"
        editor.change(uri, repaired)
        await editor.codes(uri)
        assert not editor.messages

        editor.close(uri)
        await editor.until(lambda: not editor.diagnostics[uri])

    edit(tmp_path, story)


def test_outline_references_and_highlights(tmp_path: Path) -> None:
    async def story(editor: Editor) -> None:
        uri = editor.open((tmp_path / "k.ptx").as_uri(), NESTED)
        place = types.TextDocumentIdentifier(uri)
        symbols = await editor.client.text_document_document_symbol_async(types.DocumentSymbolParams(place))
        outline = [each for each in symbols or () if isinstance(each, types.DocumentSymbol)]
        assert [each.name for each in outline] == ["bar", "helper", "names"]
        assert [each.name for each in outline[2].children or ()] == ["p", "n", "TOP", "TOP"]
        assert [editor.marked(uri, each.selection_range) for each in outline] == ["bar", "helper", "names"]

        context = types.ReferenceContext(include_declaration=False)
        asked = types.ReferenceParams(context, *editor.at(uri, "%r1;", 1))
        used = await editor.client.text_document_references_async(asked)
        assert [(where.range.start.line, editor.marked(uri, where.range)) for where in used or ()] == [
            (17, "%r1"),
            (18, "%r1"),
        ]
        lit = await editor.client.text_document_document_highlight_async(
            types.DocumentHighlightParams(*editor.at(uri, "@!q bra TOP", 9))
        )
        assert [where.range.start.line for where in lit or ()] == [12, 25]
        assert await editor.definition(uri, "bar.sync") is None
        assert await editor.hover(uri, "the number of") is None

    edit(tmp_path, story)


def test_only_the_latest_text_counts(tmp_path: Path) -> None:
    async def story(editor: Editor) -> None:
        uri = editor.open((tmp_path / "k.ptx").as_uri(), BAD)
        for number in range(30):
            editor.change(uri, BAD + f"// {number}\n")
        editor.change(uri, GOOD)
        await editor.until(lambda: bool(editor.published) and editor.published[-1].version == 32)
        await editor.codes(uri)
        versions = [params.version or 0 for params in editor.published]
        assert versions == sorted(versions)
        assert all(not params.diagnostics for params in editor.published if params.version == 32)
        assert len(versions) < 30, "typing is waited for"

    edit(tmp_path, story)


def test_typing_does_not_wait_for_checks(tmp_path: Path) -> None:
    """While a long text is checked, other questions are answered, and a change of it ends its check."""

    async def story(editor: Editor) -> None:
        long = editor.open((tmp_path / "long.ptx").as_uri(), slow(400))
        short = editor.open((tmp_path / "short.ptx").as_uri(), RING)
        await asyncio.sleep(1)  # by now the check of the long text is under way
        assert await editor.hover(short, "mbarrier.init") is not None
        assert not editor.published, "the answer did not wait for the check"
        editor.change(long, GOOD)
        await editor.codes(long)
        await editor.codes(short, "MB003")
        assert all(params.version != 1 for params in editor.published if params.uri == long)

    edit(tmp_path, story)


def test_verification(tmp_path: Path) -> None:
    """A hang that takes two threads to see, its run as related places, the verdict; kept while others are typed."""

    async def story(editor: Editor) -> None:
        uri = editor.open((tmp_path / "k.ptx").as_uri(), HANG)
        (found,) = await editor.codes(uri, "MB020")
        steps = [each.message for each in found.related_information or ()]
        assert any(step.startswith("step ") and "wrong: " in step for step in steps), steps
        assert "Launch: " in found.message
        lenses = await editor.client.text_document_code_lens_async(
            types.CodeLensParams(types.TextDocumentIdentifier(uri))
        )
        ((lens,),) = (lenses or (),)
        assert lens.command is not None
        title = lens.command.title
        assert title.startswith("violated: ")
        assert title.endswith(" (block 32×1×1)")
        assert len(title) <= 80
        assert lens.range.start.line == 3

        count = len(editor.published)
        editor.change(uri, HANG.replace(".visible", "// a line more\n.visible"))
        await editor.until(lambda: len(editor.published) > count)
        (moved,) = editor.published[count].diagnostics
        assert (moved.code, moved.range.start.line) == ("MB020", found.range.start.line + 1)
        first, *_ = moved.related_information or ()
        assert "mbarrier" in editor.marked(uri, first.location.range)

        editor.change(uri, HANG.replace("[done], 33", "[done], 32"))
        await editor.codes(uri)
        await editor.until(lambda: editor.published[-1].version == 3)

    edit(tmp_path, story)


def test_verification_can_wait_for_saving(tmp_path: Path) -> None:
    async def story(editor: Editor) -> None:
        uri = editor.open((tmp_path / "k.ptx").as_uri(), GOOD)
        await editor.codes(uri)
        editor.change(uri, HANG)
        await editor.until(lambda: editor.published[-1].version == 2)
        await asyncio.sleep(2.5)
        assert not editor.diagnostics[uri]
        editor.save(uri)
        await editor.codes(uri, "MB020")

    edit(tmp_path, story, options={"verify": "onSave", "rulePages": 7})


def test_rule_pages_on_a_site_and_no_verification(tmp_path: Path) -> None:
    async def story(editor: Editor) -> None:
        hang = editor.open((tmp_path / "h.ptx").as_uri(), HANG)
        ring = editor.open((tmp_path / "k.ptx").as_uri(), RING)
        (found,) = await editor.codes(ring, "MB003")
        assert found.code_description is not None
        assert found.code_description.href == "https://example.com/rules/MB003/"
        editor.save(hang)
        editor.save(ring)
        await asyncio.sleep(1)
        assert not editor.diagnostics[hang]

    edit(tmp_path, story, options={"verify": "never", "rulePages": "https://example.com/rules/"})


def test_a_client_that_can_do_little(tmp_path: Path) -> None:
    """Edits come with the action, without versions."""

    async def story(editor: Editor) -> None:
        uri = editor.open((tmp_path / "k.ptx").as_uri(), RING)
        (found,) = await editor.codes(uri, "MB003")
        (repair, _) = await editor.actions(uri, found.range, ["quickfix"])
        assert repair.edit is not None
        assert repair.edit.document_changes is None
        assert is_clean(editor.applied(repair.edit)[uri])
        assert await editor.actions(uri, found.range, ["refactor"]) == []

    edit(tmp_path, story, capabilities=LITTLE)


def test_all_safe_repairs(tmp_path: Path) -> None:
    both = RING + RING.removeprefix(HEADER).replace("two_roles", "again")

    async def story(editor: Editor) -> None:
        uri = editor.open((tmp_path / "k.ptx").as_uri(), both)
        found, _ = await editor.codes(uri, "MB003", "MB003")
        (action,) = await editor.actions(uri, found.range, ["source.fixAll"])
        assert action.kind == "source.fixAll.ptxcheck"
        resolved = await asyncio.wait_for(editor.client.code_action_resolve_async(action), PATIENCE)
        assert resolved.edit is not None
        assert is_clean(editor.applied(resolved.edit)[uri])

    if shutil.which("ptxas") is None:
        pytest.skip("no ptxas: no repair is called safe")
    edit(tmp_path, story)


def test_an_action_of_an_old_text(tmp_path: Path) -> None:
    async def story(editor: Editor) -> None:
        uri = editor.open((tmp_path / "k.ptx").as_uri(), BAD)
        found, _ = await editor.codes(uri, "NB001", "PT003")
        repair = (await editor.actions(uri, found.range))[0]
        editor.change(uri, "\n" + BAD)
        late = await editor.client.code_action_resolve_async(repair)
        assert late.edit is None
        await editor.until(lambda: any("has changed" in message for message in editor.messages))

    edit(tmp_path, story)


def test_a_repair_is_given_up_when_the_text_changes(tmp_path: Path) -> None:
    many = RING + "".join(RING.removeprefix(HEADER).replace("two_roles", f"more{n}") for n in range(40))

    async def story(editor: Editor) -> None:
        uri = editor.open((tmp_path / "k.ptx").as_uri(), many)
        found = await editor.codes(uri, *["MB003"] * 41)
        (all_of_them,) = await editor.actions(uri, found[0].range, ["source.fixAll.ptxcheck"])
        search = asyncio.ensure_future(editor.client.code_action_resolve_async(all_of_them))
        await asyncio.sleep(0.5)
        editor.change(uri, RING)
        late = await asyncio.wait_for(search, PATIENCE)
        assert late.edit is None
        assert any("has changed meanwhile" in message for message in editor.messages)
        (found_alone,) = await editor.codes(uri, "MB003")
        (repair, _) = await editor.actions(uri, found_alone.range)
        assert (await asyncio.wait_for(editor.client.code_action_resolve_async(repair), PATIENCE)).edit

    edit(tmp_path, story)


def test_suppressing_asks_for_the_reason(tmp_path: Path) -> None:
    async def story(editor: Editor) -> None:
        uri = editor.open((tmp_path / "k.ptx").as_uri(), RING)
        (found,) = await editor.codes(uri, "MB003")
        (_, suppress) = await editor.actions(uri, found.range)
        assert suppress.edit is not None
        text = editor.applied(suppress.edit)[uri]
        assert "    // ptxcheck: ignore[MB003] \n    mbarrier.try_wait" in text
        editor.change(uri, text)
        await editor.codes(uri, "MB003", "suppression")  # not without a reason
        text = text.replace("ignore[MB003] ", "ignore[MB003] the caller has done it")
        editor.change(uri, text)
        await editor.codes(uri)
        editor.change(uri, text.replace("MB003", "MB001"))
        diagnostics = {each.code: each for each in await editor.codes(uri, "MB003", "suppression")}
        assert list(diagnostics["suppression"].tags or ()) == [types.DiagnosticTag.Unnecessary]

    edit(tmp_path, story)


HOST = """#include <cuda.h>
void make(CUtensorMap* map, void* data) {
  const cuuint64_t dims[2] = {64, 64}, strides[1] = {128};
  const cuuint32_t box[2] = {64, 64}, steps[2] = {1, 1};
  /* 😀 é */ cuTensorMapEncodeTiled(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 7, data, dims, strides, box, steps,
      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}
"""


@pytest.mark.parametrize(("encoding", "newline"), [("utf-16", "\r\n"), ("utf-8", "\n"), ("utf-32", "\r\n")])
def test_columns_behind_wide_characters(tmp_path: Path, encoding: str, newline: str) -> None:
    async def story(editor: Editor) -> None:
        assert editor.encoding == encoding
        uri = editor.open((tmp_path / "maps.cpp").as_uri(), HOST.replace("\n", newline), "cpp")
        await editor.until(lambda: bool(editor.diagnostics.get(uri)))
        (found,) = editor.diagnostics[uri]
        assert str(found.code).startswith("TD")
        assert editor.marked(uri, found.range) == "7"
        (suppress,) = await editor.actions(uri, found.range)
        assert suppress.edit is not None
        text = editor.applied(suppress.edit)[uri]
        assert f"  // ptxcheck: ignore[{found.code}] {newline}  /* 😀" in text

    edit(tmp_path, story, capabilities=with_encoding(encoding))


def test_other_line_ends(tmp_path: Path) -> None:
    text = RING.replace("\n", "\r\n")

    async def story(editor: Editor) -> None:
        uri = editor.open((tmp_path / "k.ptx").as_uri(), text)
        (found,) = await editor.codes(uri, "MB003")
        assert editor.marked(uri, found.range).startswith("mbarrier.try_wait")
        (repair, _) = await editor.actions(uri, found.range)
        resolved = await asyncio.wait_for(editor.client.code_action_resolve_async(repair), PATIENCE)
        assert resolved.edit is not None
        repaired = editor.applied(resolved.edit)[uri]
        assert repaired.count("\n") == repaired.count("\r\n") > text.count("\n")
        assert is_clean(repaired)

    edit(tmp_path, story)


def test_settings_are_found_as_the_command_line_finds_them(tmp_path: Path) -> None:
    inner = tmp_path / "kernels" / "inner"
    inner.mkdir(parents=True)
    settings = tmp_path / "ptxcheck.toml"
    settings.write_text('ignore = ["MB003"]\nexclude = ["generated"]\n')

    async def story(editor: Editor) -> None:
        uri = editor.open((inner / "k.ptx").as_uri(), RING)
        generated = editor.open((tmp_path / "generated/k.ptx").as_uri(), BAD)
        await editor.codes(uri)
        await editor.codes(generated)
        settings.write_text("selekt = []\n")
        changed = types.FileEvent(settings.as_uri(), types.FileChangeType.Changed)
        editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([changed]))
        (found,) = await editor.codes(uri, "None")
        assert "unknown key `selekt`" in found.message
        settings.unlink()
        editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([changed]))
        await editor.codes(uri, "MB003")

    edit(tmp_path, story)


def test_syntax_errors_have_their_place(tmp_path: Path) -> None:
    async def story(editor: Editor) -> None:
        uri = editor.open((tmp_path / "k.ptx").as_uri(), GOOD.replace("bar.sync 0;", "bar.sync 0 ];"))
        (found,) = await editor.codes(uri, "syntax")
        assert (found.severity, found.range.start.line) == (types.DiagnosticSeverity.Error, 5)

    edit(tmp_path, story)


BAD_TEXTS = (
    "",
    "\x00\x01",
    "not PTX at all\n",
    "é😀",
    ".version",
    HEADER + ".visible .entry k(",
    "\n" * 5000,
)


def test_bad_texts(tmp_path: Path) -> None:
    """Nothing that is typed makes the server fail, wherever the cursor is."""

    async def typed(editor: Editor, number: int, text: str) -> None:
        uri = editor.open((tmp_path / f"k{number}.ptx").as_uri(), text)
        place = types.TextDocumentIdentifier(uri)
        for position in (types.Position(0, 0), types.Position(0, 9), types.Position(99999, 99999)):
            asked = types.HoverParams(place, position)
            assert await editor.client.text_document_hover_async(asked) is None
            await editor.client.text_document_definition_async(types.DefinitionParams(place, position))
            await editor.actions(uri, types.Range(position, position))
        await editor.client.text_document_document_symbol_async(types.DocumentSymbolParams(place))
        await editor.until(lambda: uri in editor.diagnostics)
        editor.change(uri, GOOD)
        await editor.codes(uri)

    async def story(editor: Editor) -> None:
        for number, text in enumerate(BAD_TEXTS):
            await typed(editor, number, text)

    edit(tmp_path, story)


def test_documents_in_no_folder_and_in_no_file() -> None:
    async def story(editor: Editor) -> None:
        untitled = editor.open("untitled:Untitled-1", RING)
        elsewhere = editor.open("file:///no/such/folder/k.ptx", RING)
        remote = editor.open("git:/a%20b.ptx?ref", RING)
        source = editor.open("untitled:k.cu", "int x;", "cuda-cpp")
        for uri in (untitled, elsewhere, remote):
            await editor.codes(uri, "MB003")
        assert await editor.hover(untitled, "mbarrier.init") is not None
        editor.save(source)
        editor.save("file:///never/opened.ptx")
        editor.close("file:///never/opened.ptx")
        unknown = types.HoverParams(types.TextDocumentIdentifier("file:///x.ptx"), types.Position(0, 0))
        assert await editor.client.text_document_hover_async(unknown) is None
        assert source not in editor.diagnostics

    edit(None, story)


def children(process: int) -> list[int]:
    """Return the processes that a process has started."""
    found = Path(f"/proc/{process}/task").glob("*/children")
    return [int(word) for path in found for word in path.read_text().split()]


def ticks(process: int) -> int:
    """Return the processor time that a process has taken, in hundredths of a second."""
    words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return int(words[11]) + int(words[12])


@pytest.mark.skipif(not Path(f"/proc/{os.getpid()}/task").is_dir(), reason="no /proc")
def test_a_process_that_dies_is_replaced(tmp_path: Path) -> None:
    missed: list[int] = []

    async def story(editor: Editor) -> None:
        uri = editor.open((tmp_path / "k.ptx").as_uri(), RING)
        await editor.codes(uri, "MB003")
        server = editor.client._server
        assert server is not None
        (worker,) = children(server.pid)
        before = ticks(worker)
        editor.change(uri, slow(200))
        for _ in range(1200):
            if ticks(worker) >= before + 80:  # the check is under way
                break
            await asyncio.sleep(0.05)
        else:
            missed.append(worker)
            return
        os.kill(worker, signal.SIGKILL)
        (found,) = await editor.codes(uri, "None")
        assert "has ended (exit code -9)" in found.message
        editor.change(uri, GOOD)
        await editor.codes(uri)

    edit(tmp_path, story)
    if missed:
        pytest.skip("the server has not begun with the check for a minute, so there was nothing to interrupt")


@pytest.mark.skipif(not Path(f"/proc/{os.getpid()}/task").is_dir(), reason="no /proc")
def test_nothing_is_left_when_the_editor_is_gone(tmp_path: Path) -> None:
    async def story() -> None:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "ptxcheck", "lsp",
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        send(process.stdin, '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}')
        item = '{"textDocument":{"uri":"file:///k.ptx","languageId":"ptx","version":1,"text":"x"}}'
        send(process.stdin, '{"jsonrpc":"2.0","method":"textDocument/didOpen","params":' + item + "}")
        await asyncio.wait_for(process.stdout.readuntil(b"publishDiagnostics"), PATIENCE)
        workers = children(process.pid)
        assert workers
        process.stdin.close()
        await asyncio.wait_for(process.wait(), PATIENCE)
        for _ in range(int(PATIENCE * 10)):
            if not any(is_alive(worker) for worker in workers):
                return
            await asyncio.sleep(0.1)
        raise AssertionError("a process is left")

    asyncio.run(story())


def send(stream: asyncio.StreamWriter, message: str) -> None:
    stream.write(f"Content-Length: {len(message)}\r\n\r\n{message}".encode())


def is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


CUDA = """// ptxcheck: launch block=128
__global__ void __launch_bounds__(128) reverse(const float *input, float *output) {{
  __shared__ float tile[128];
  tile[threadIdx.x] = input[threadIdx.x];
  float sum = 0;
  if (threadIdx.x % 32 < 16) {{
    /* é😀 */ {statement}
    sum += tile[threadIdx.x + 16];
  }}
  __syncthreads();
  tile[threadIdx.x] = sum;
  __syncthreads();
  output[threadIdx.x] = tile[127 - threadIdx.x];
}}
"""


@needs_nvcc
def test_cuda_is_checked_when_it_is_saved(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"

    async def story(editor: Editor) -> None:
        path.write_text(CUDA.format(statement="__syncthreads();"))
        uri = editor.open(path.as_uri(), path.read_text(), "cuda-cpp")
        (found,) = await editor.codes(uri, "NB004")
        assert found.range.start.line == 6
        assert editor.marked(uri, found.range) == "__syncthreads"
        assert await editor.hover(uri, "__syncthreads") is not None
        (_, suppress) = await editor.actions(uri, found.range)
        assert suppress.edit is not None
        text = editor.applied(suppress.edit)[uri].replace(
            "ignore[NB004] ", "ignore[NB004] half a warp is enough"
        )
        editor.change(uri, text)
        path.write_text(text)
        editor.save(uri)
        await editor.codes(uri)

        text = CUDA.format(statement="no_such_name = 1;")
        editor.change(uri, text)
        path.write_text(text)
        editor.save(uri)
        (wrong,) = await editor.codes(uri, "compiler")
        assert (wrong.message, wrong.range.start.line) == (
            'identifier "no_such_name" is undefined',
            6,
        )

        path.unlink()
        editor.save(uri)
        await editor.codes(uri, "input")

    edit(tmp_path, story)


@needs_nvcc
def test_a_repair_of_a_cuda_source(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    kernel = Path(__file__).parent.parent.parent / "corpus/bad/MB003/no_barrier_after_init.cu"
    path.write_text(kernel.read_text(encoding="utf-8"))

    async def story(editor: Editor) -> None:
        uri = editor.open(path.as_uri(), path.read_text(), "cuda-cpp")
        (found,) = await editor.codes(uri, "MB003")
        repair = (await editor.actions(uri, found.range))[0]
        resolved = await asyncio.wait_for(editor.client.code_action_resolve_async(repair), 2 * PATIENCE)
        assert resolved.edit is not None, editor.messages
        text = editor.applied(resolved.edit)[uri]
        assert text.count("__syncthreads();") == editor.texts[uri].count("__syncthreads();") + 1
        editor.change(uri, text)
        path.write_text(text)
        editor.save(uri)
        await editor.codes(uri)

    edit(tmp_path, story)


@needs_nvcc
def test_findings_in_headers_are_shown_there(tmp_path: Path) -> None:
    header, source = tmp_path / "part.cuh", tmp_path / "k.cu"
    header.write_text(
        "__device__ inline void meet() {\n  if (threadIdx.x % 32 < 16)\n    __syncthreads();\n}\n"
    )
    source.write_text(
        '#include "part.cuh"\n// ptxcheck: launch block=128\n'
        "__global__ void k(int* p) {\n  __shared__ int tile[128];\n  tile[threadIdx.x] = *p;\n"
        "  meet();\n  __syncthreads();\n  *p = tile[127 - threadIdx.x];\n}\n"
    )

    async def story(editor: Editor) -> None:
        uri = editor.open(source.as_uri(), source.read_text(), "cuda-cpp")
        (found,) = await editor.codes(header.as_uri(), "NB004")
        assert found.range.start.line == 2
        where = [
            (each.location.uri, each.location.range.start.line) for each in found.related_information or ()
        ]
        assert (uri, 5) in where, "the inline chain"
        editor.open(header.as_uri(), header.read_text(), "cuda-cpp")
        editor.texts[header.as_uri()] = header.read_text().replace("if (threadIdx.x % 32 < 16)", "")
        header.write_text(editor.texts[header.as_uri()])
        editor.save(header.as_uri())
        await editor.codes(header.as_uri())

    edit(tmp_path, story)


def test_inline_assembly_is_explained() -> None:
    async def story(editor: Editor) -> None:
        text = 'void f() {\n  /* 😀 */ asm volatile("fence.proxy.async.shared::cta;");\n}\n'
        uri = editor.open("untitled:k.cu", text, "cuda-cpp")
        page = await editor.hover(uri, "proxy.async")
        assert page is not None
        assert page.startswith("**fence.proxy**")
        assert await editor.hover(uri, "volatile") is None

    edit(None, story)


def test_no_compiler(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text("__global__ void k() {}\n")

    async def story(editor: Editor) -> None:
        uri = editor.open(path.as_uri(), path.read_text(), "cuda-cpp")
        (found,) = await editor.codes(uri, "compiler")
        assert found.range.start.line == 0
        assert "cannot" in found.message or "nvcc" in found.message

    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    (bin_folder / "nvcc").write_text("#!/bin/sh\necho 'this is no compiler'\nexit 7\n")
    (bin_folder / "nvcc").chmod(0o755)
    edit(tmp_path, story, environment={"PATH": f"{bin_folder}:{os.environ['PATH']}"})
