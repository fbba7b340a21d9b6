"""Sentence models of the Hugging Face Hub, named ``hub:OWNER/NAME`` or with ``@REVISION`` after it.

Only files of data are downloaded, once: the ONNX file, the tokenizer, and descriptions in JSON.
Each is compared with the hash that the hub shows, and their hashes become part of the description
of the folder, which is named by the revision. Afterwards no network is used.
"""

import hashlib
import json
import os
import re
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from shared.errors import SemanticModelError
from shared.messages import reason_of
from shared.semantic import encoder

if TYPE_CHECKING:
    from huggingface_hub.hf_api import ModelInfo, RepoSibling

_NAME: Final = re.compile(
    r"hub:(?P<owner>[\w.-]+)/(?P<model>[\w.-]+)(?:@(?P<revision>[\w./-]+))?", re.ASCII
)

_COMMIT: Final = re.compile(r"[0-9a-f]{40}")
"""A revision that never changes."""

_MODELS: Final = (
    *("onnx/model_quantized.onnx", "onnx/model_int8.onnx"),
    *("onnx/model.onnx", encoder.MODEL_FILE),
)
"""Names of ONNX files, of which the first one is taken; with 8 bits one is twice as fast."""

_CONFIG: Final = "config.json"
_MODULES: Final = "modules.json"
_POOLING: Final = "1_Pooling/config.json"
_LENGTH: Final = "sentence_bert_config.json"
_PROMPTS: Final = "config_sentence_transformers.json"
_DESCRIPTIONS: Final = (_CONFIG, _MODULES, _POOLING, _LENGTH, _PROMPTS, encoder.DESCRIPTION_FILE)
"""Files of the libraries transformers and sentence-transformers, and this project's."""

_KNOWN_MODULES: Final = {"Transformer", "Pooling", "Normalize"}
"""Parts of a model of sentence-transformers that `shared.semantic.encoder` has, too."""

_MAX_DESCRIPTION_BYTES: Final = 1_000_000

_MAX_TOKENS: Final = 512
"""Maximum number of tokens of a text: a chunk has hardly more, and the cost grows with them."""

_E5: Final = re.compile(r"intfloat/(?:multilingual-)?e5-(?:small|base|large)(?:-v2)?")
"""Models whose prefixes are only in the text for people."""


def downloaded(cache: Path, name: str) -> Path | None:
    """Return the folder of a model in a cache; None if there is none with a pinned revision."""
    owner, model, revision = _parts(name)
    folder = cache / f"hub--{owner}--{model}@{revision}"
    return folder if _COMMIT.fullmatch(revision or "") and folder.is_dir() else None


def download_into(cache: Path, name: str) -> str:
    """Download a model, unless it is there, and return its name with the pinned revision."""
    owner, model, revision = _parts(name)
    if downloaded(cache, name):
        return name
    found = _Repository(f"{owner}/{model}", revision, name)
    pinned = f"hub:{found.id}@{found.commit}"
    target = cache / f"hub--{owner}--{model}@{found.commit}"
    if not target.is_dir():
        files = found.model_files()
        with tempfile.TemporaryDirectory(prefix="mcp-lucene-model-") as temporary:
            tried = Path(temporary) / "model"
            _write(tried, files, pinned)
            encoder.OnnxEncoder(tried, pinned).query("A text")
        _write(target, files, pinned)
    return pinned


def _write(target: Path, files: Mapping[str, bytes], name: str) -> None:
    """Write the files of a model into a folder, which appears with all of them or not at all."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".writing-") as temporary:
            made = Path(temporary) / "model"
            made.mkdir()
            for file, content in files.items():
                (made / file).write_bytes(content)
            try:
                made.rename(target)
            except OSError:
                # Another process may have been faster.
                if not all((target / file).is_file() for file in files):
                    raise
    except OSError as error:
        raise SemanticModelError(
            name, f"it cannot be written to {target} ({reason_of(error)})"
        ) from error


def _parts(name: str) -> tuple[str, str, str | None]:
    matched = _NAME.fullmatch(name)
    if not matched or ".." in name:
        raise SemanticModelError(name, "a model of the hub is named hub:OWNER/NAME[@REVISION]")
    return matched["owner"], matched["model"], matched["revision"]


class _Repository:
    """A model on the hub, at one commit."""

    def __init__(self, id_: str, revision: str | None, name: str) -> None:
        # Read when the library is imported; it would report the use of the library.
        os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
        from huggingface_hub import HfApi

        self.id = id_
        self._name = name
        self._api: HfApi = HfApi(endpoint=os.environ.get("HF_ENDPOINT") or None)
        info = self._asked(self._api.model_info, id_, revision=revision, files_metadata=True)
        self._info: ModelInfo = info
        self._files: Mapping[str, RepoSibling] = {
            file.rfilename: file for file in info.siblings or ()
        }
        self.commit = info.sha or ""
        if not _COMMIT.fullmatch(self.commit):
            raise SemanticModelError(name, "the hub names no revision of it")

    def model_files(self) -> dict[str, bytes]:
        """Return the files of the model's folder, downloaded and checked."""
        descriptions = {name: self._json(name) for name in _DESCRIPTIONS if name in self._files}
        self._check_code(descriptions)
        described = descriptions.get(encoder.DESCRIPTION_FILE) or self._description(descriptions)
        source = next((name for name in _MODELS if name in self._files), None)
        if source is None:
            raise SemanticModelError(self._name, "it has no ONNX file")
        if encoder.TOKENIZER_FILE not in self._files:
            raise SemanticModelError(self._name, f"it has no {encoder.TOKENIZER_FILE}")
        files = {
            encoder.MODEL_FILE: self._content(source, encoder.MAX_FILE_BYTES),
            encoder.TOKENIZER_FILE: self._content(encoder.TOKENIZER_FILE, encoder.MAX_FILE_BYTES),
        }
        sums = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
        text = json.dumps({**described, "sha256": sums}, ensure_ascii=False)
        return {**files, encoder.DESCRIPTION_FILE: text.encode()}

    def _check_code(self, descriptions: Mapping[str, Any]) -> None:
        """Refuse a model that is more than its files: with code of its own, or further layers."""
        config = descriptions.get(_CONFIG)
        if isinstance(config, dict) and config.get("auto_map"):
            raise SemanticModelError(self._name, "it needs code of its own, which is never run")
        modules = descriptions.get(_MODULES) or []
        for module in modules if isinstance(modules, list) else []:
            kind = str(module.get("type")) if isinstance(module, dict) else ""
            package, _, last = kind.rpartition(".")
            if not package.startswith("sentence_transformers") or last not in _KNOWN_MODULES:
                raise SemanticModelError(
                    self._name, f"it has a part that is not supported: {kind[:80]}"
                )

    def _description(self, found: Mapping[str, Any]) -> dict[str, Any]:
        """Return the description of a model of sentence-transformers."""
        try:
            pooling = found[_POOLING]
            config = found[_CONFIG]
            if pooling.get("pooling_mode_mean_tokens"):
                way = "mean"
            elif pooling.get("pooling_mode_cls_token"):
                way = "cls"
            else:
                raise SemanticModelError(self._name, f"{_POOLING} has another way than mean or cls")
            longest = found.get(_LENGTH, {}).get("max_seq_length")
            positions = config.get("max_position_embeddings")
            prompts = found.get(_PROMPTS, {}).get("prompts") or {}
            known = {"query": "query: ", "passage": "passage: "} if _E5.fullmatch(self.id) else {}
            prompts = {**known, **prompts}
            return {
                "dimensions": config["hidden_size"],
                "pooling": way,
                "max_tokens": min(longest or _MAX_TOKENS, positions or _MAX_TOKENS, _MAX_TOKENS),
                "languages": self._languages(),
                "query_prefix": prompts.get("query", ""),
                "passage_prefix": prompts.get("passage") or prompts.get("document", ""),
            }
        except (AttributeError, KeyError, TypeError) as error:
            raise SemanticModelError(
                self._name,
                f"its files do not tell how it makes vectors ({_POOLING}, {_CONFIG})",
                f"download it, and describe it in a folder with {encoder.DESCRIPTION_FILE}",
            ) from error

    def _languages(self) -> list[str]:
        card: Any = self._info.card_data
        named = getattr(card, "language", None) or []
        codes = [named] if isinstance(named, str) else list(named)
        # Anything but a code, such as multilingual, means more than is listed.
        return codes if all(re.fullmatch("[a-z]{2}", str(code)) for code in codes) else []

    def _json(self, name: str) -> Any:
        try:
            return json.loads(self._content(name, _MAX_DESCRIPTION_BYTES))
        except (ValueError, RecursionError) as error:
            raise SemanticModelError(self._name, f"{name} is not JSON") from error

    def _content(self, name: str, most: int) -> bytes:
        """Return a file, compared with the hash that the hub shows."""
        shown = self._files[name]
        if (shown.size or 0) > most:
            raise SemanticModelError(self._name, f"{name} is larger than {most:,} bytes")
        with tempfile.TemporaryDirectory(prefix="mcp-lucene-model-") as temporary:
            file = self._asked(
                self._api.hf_hub_download,
                self.id,
                name,
                revision=self.commit,
                local_dir=temporary,
            )
            content = Path(file).read_bytes()
        found = hashlib.sha256(content).hexdigest() if shown.lfs else _git_hash(content)
        if found != (shown.lfs.sha256 if shown.lfs else shown.blob_id):
            raise SemanticModelError(
                self._name, f"{name} is not the file that the hub shows", "try again"
            )
        return content

    def _asked(self, ask: Any, *args: Any, **options: Any) -> Any:
        """Return what the hub answers."""
        from huggingface_hub import errors
        from huggingface_hub.utils.tqdm import disable_progress_bars

        if not sys.stderr.isatty():
            disable_progress_bars()
        try:
            return ask(*args, **options)
        except Exception as error:  # the library has no base class of its errors
            remedy = ""
            match error:
                case errors.GatedRepoError():
                    problem = "its publisher wants an agreement"
                    remedy = "agree, and log in with: hf auth login"
                case errors.RepositoryNotFoundError():
                    problem = "the hub has no such model"
                case errors.RevisionNotFoundError():
                    problem = "the hub has no such revision of it"
                case _:
                    problem = f"{self._api.endpoint} did not send it ({type(error).__name__})"
                    remedy = "try again later, or download its files into a folder"
            raise SemanticModelError(self._name, problem, remedy) from error


def _git_hash(content: bytes) -> str:
    """Return the name that Git gives to a file."""
    # Of Git's own, not for security: large files, which could carry more, have SHA-256.
    return hashlib.sha1(b"blob %d\0%b" % (len(content), content), usedforsecurity=False).hexdigest()
