"""A model's learning is stored in files.

A file is read completely or not at all, and no forecast fails because of a file.
"""

import os
import shutil
import stat
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunnihind.forecast.replay.learnt import LearntData
from tunnihind.pipeline.learnt_files import MAX_FILES, MIN_FREE_BYTES, LearntFiles

ARRAYS = (np.arange(6.0).reshape(2, 3), np.array([np.nan, 1], np.float32), np.array([True]), np.empty((0, 24)))
LEARNT = LearntData(b'{"a":{"array":0}}', ARRAYS)


def files(folder: Path, model: str = "a model") -> LearntFiles:
    return LearntFiles(folder / "learnt", model)


def only_file(folder: Path) -> Path:
    (path,) = (folder / "learnt").iterdir()
    return path


def same(found: LearntData | None) -> bool:
    return found is not None and (found.document, [(one.dtype, one.shape, one.tobytes()) for one in found.arrays]) == (
        LEARNT.document,
        [(one.dtype, one.shape, one.tobytes()) for one in LEARNT.arrays],
    )


def test_what_was_kept_comes_back_to_another_process_and_can_be_written_to(tmp_path: Path) -> None:
    files(tmp_path).keep("a past", LEARNT)
    found = files(tmp_path).find("a past")
    assert same(found)
    assert found is not None
    assert all(one.flags.writeable for one in found.arrays)


def test_nothing_is_found_of_another_past_or_another_model(tmp_path: Path) -> None:
    files(tmp_path).keep("a past", LEARNT)
    assert files(tmp_path).find("another past") is None
    assert files(tmp_path, "another model").find("a past") is None


def test_a_file_under_anothers_name_is_not_taken_for_it(tmp_path: Path) -> None:
    files(tmp_path).keep("a past", LEARNT)
    mine = only_file(tmp_path)
    files(tmp_path).keep("another past", LearntData(b"{}", ()))
    (other,) = {*(tmp_path / "learnt").iterdir()} - {mine}
    mine.replace(other)
    assert files(tmp_path).find("another past") is None


@given(st.data())
def test_a_damaged_file_is_passed_over(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    files(folder).keep("a past", LEARNT)
    path = only_file(folder)
    content = bytearray(path.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        content[place] ^= data.draw(st.integers(1, 255))
    else:
        del content[place:]
    path.write_bytes(content)
    assert files(folder).find("a past") is None
    files(folder).keep("a past", LEARNT)
    assert same(files(folder).find("a past"))


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    kept = files(tmp_path)
    with pytest.raises(ValueError, match="allow_pickle"):
        kept.keep("a past", LearntData(b"{}", (np.array([object()]),)))


def test_a_folder_that_cannot_be_written_to_costs_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "learnt").write_text("in the way")
    kept = files(tmp_path)
    kept.keep("a past", LEARNT)
    assert kept.find("a past") is None
    assert "the model computes them again whenever it needs them" in caplog.text


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_on_a_full_disk_nothing_is_kept_and_nothing_is_left(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.open

    def full(path: str | Path, flags: int, mode: int = 0o777) -> int:
        real_one = real(path, flags, mode)
        if str(path).endswith(".part"):
            os.close(real_one)
            return real("/dev/full", os.O_WRONLY)
        return real_one

    files(tmp_path).keep("an earlier past", LEARNT)
    monkeypatch.setattr(os, "open", full)
    files(tmp_path).keep("a past", LEARNT)
    monkeypatch.undo()
    assert "No space left on device" in caplog.text
    assert list((tmp_path / "learnt").iterdir()) == []
    assert files(tmp_path).find("a past") is None


def test_on_a_disk_that_is_nearly_full_the_database_has_the_room(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = [MIN_FREE_BYTES, MIN_FREE_BYTES - 1]
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free.pop(0)))
    files(tmp_path).keep("a past", LEARNT)
    assert same(files(tmp_path).find("a past"))
    files(tmp_path).keep("another past", LEARNT)
    assert "less than 64 MB are free" in caplog.text
    assert list((tmp_path / "learnt").iterdir()) == []


@pytest.mark.parametrize(("mode", "of_folder"), [(0o600, 0o700), (0o640, 0o750)])
def test_who_may_read_the_database_may_read_what_was_learnt_from_it(tmp_path: Path, mode: int, of_folder: int) -> None:
    before = os.umask(0o022)
    try:
        LearntFiles(tmp_path / "learnt", "a model", mode=mode).keep("a past", LEARNT)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "learnt").stat().st_mode) == of_folder
    assert stat.S_IMODE(only_file(tmp_path).stat().st_mode) == mode


def test_the_longest_unused_files_make_room(tmp_path: Path) -> None:
    kept = files(tmp_path)
    for number in range(MAX_FILES):
        kept.keep(f"past {number}", LEARNT)
        path = max((tmp_path / "learnt").iterdir(), key=lambda one: one.stat().st_ctime_ns)
        os.utime(path, (number, number))
    assert same(kept.find("past 0"))
    kept.keep("one more past", LEARNT)
    assert len(list((tmp_path / "learnt").iterdir())) == MAX_FILES
    assert kept.find("past 1") is None
    assert same(kept.find("past 0"))


def test_what_killed_processes_have_left_unfinished_is_cleared_away(tmp_path: Path) -> None:
    kept = files(tmp_path)
    kept.keep("a past", LEARNT)
    for number in range(5):
        (tmp_path / "learnt" / f"x.{number}.part").write_bytes(b"half")
    kept.keep("a past", LEARNT)
    assert len(list((tmp_path / "learnt").glob("*.part"))) <= 1
