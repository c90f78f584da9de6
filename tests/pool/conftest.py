import pytest

from aced.pool import _chunks, _parquet


@pytest.fixture
def small_chunks(monkeypatch):
    """Chunks of about 1024 rows, few of them kept, so that small pools use all there is."""
    for module in (_chunks, _parquet):
        monkeypatch.setattr(module, "CHUNK_BYTES", 1024)
    monkeypatch.setattr(_chunks, "KEEP_BYTES", 1024)
    monkeypatch.setattr(_chunks, "available_threads", lambda: 1)
