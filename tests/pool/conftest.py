import pytest

from aced.pool import _chunk_cache, _parquet


@pytest.fixture
def small_chunks(monkeypatch):
    """Chunks of about 1024 rows, few of them kept, so that small pools use all there is."""
    for module in (_chunk_cache, _parquet):
        monkeypatch.setattr(module, "CHUNK_BYTES", 1024)
    monkeypatch.setattr(_chunk_cache, "KEEP_BYTES", 1024)
    monkeypatch.setattr(_chunk_cache, "available_threads", lambda: 1)
