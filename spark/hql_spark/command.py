"""The hql program: where it is, what it is called with, what it says."""

import json
import os
import shutil
import subprocess
import tempfile

import pyarrow as pa


class HqlError(RuntimeError):
    """What hql said when it failed."""


def _shipped(name):
    """A file of this machine, or one of that name that came with the job (spark.addFile, --files)."""
    if os.path.isfile(name):  # a folder may have the name of the program
        return os.path.abspath(name)
    try:
        from pyspark import SparkFiles

        there = SparkFiles.get(os.path.basename(name))
    except Exception:  # no job
        return None
    return there if os.path.isfile(there) else None


class Command:
    """How hql is called for one data source. It is pickled: the driver makes it, tasks use it."""

    def __init__(self, options):
        self.binary = options.get("binary", os.environ.get("HQL_BINARY", "hql"))
        self.store = []
        for name in ("connect", "conf"):
            if name in options:
                self.store += ["--" + name, options[name]]
        self.catalogs = [f for f in options.get("catalog", "").split(",") if f]
        self.guards = ["--full-scan", options.get("fullScan", "deny")]
        for option, flag in (("maxScanRows", "--max-scan-rows"), ("maxScanBytes", "--max-scan-bytes")):
            if option in options:
                self.guards += [flag, options[option]]
        self.session = ["--timezone", options["timeZone"]] if "timeZone" in options else []
        for value in _arguments(options.get("args", "[]")):
            self.session += ["--null"] if value is None else ["--arg", value]

    def _args(self, tool, guards):  # a piece brings the session that it was cut in
        program = _shipped(self.binary) or shutil.which(self.binary)
        if program is None:
            raise HqlError(f"there is no program {self.binary}: put hql on the PATH, or set the option binary, "
                           "which may name a file that was shipped with the job")
        if not os.access(program, os.X_OK):
            os.chmod(program, 0o755)
        args = [program] + tool + self.store + guards + ([] if tool == ["piece"] else self.session)
        for f in self.catalogs:
            args += ["--catalog", _shipped(f) or f]
        return args

    def output(self, tool, *rest, guards=None):
        """What hql writes, which is little."""
        done = subprocess.run(self._args(tool, self.guards if guards is None else guards) + list(rest), stdin=subprocess.DEVNULL, capture_output=True)
        if done.returncode != 0:
            raise HqlError(_said(done.stderr, done.returncode))
        return done.stdout

    def batches(self, tool, *rest, stdin=b""):
        """The batches of an Arrow stream that hql writes. What ends early, hql or who reads, ends the other."""
        with tempfile.TemporaryFile() as errors:
            hql = subprocess.Popen(self._args(tool, self.guards) + list(rest), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)
            try:
                with hql.stdin:
                    hql.stdin.write(stdin)
            except BrokenPipeError:
                pass  # it says why
            try:
                try:
                    with pa.ipc.open_stream(hql.stdout) as stream:
                        yield from stream
                except (pa.ArrowInvalid, OSError):  # the other is of a batch that was cut short
                    hql.stdout.close()  # what is no Arrow may go on
                    if hql.wait() == 0:
                        raise
                if hql.wait() != 0:  # a stream that was cut short may look like a whole one
                    errors.seek(0)
                    raise HqlError(_said(errors.read(), hql.returncode))
            finally:
                hql.terminate()
                hql.stdout.close()
                hql.wait()


def _arguments(text):
    """The texts of a JSON list of values."""
    try:
        values = json.loads(text, parse_int=str, parse_float=str)  # their digits as they are
    except ValueError:
        values = None
    if not isinstance(values, list) or any(isinstance(v, (list, dict)) for v in values):
        raise HqlError(f"the option args is a JSON list of values, one for each ?, not {text}")
    return [str(v).lower() if isinstance(v, bool) else v for v in values]


def _said(text, code):
    text = text.decode("utf-8", "replace").strip()
    return text.removeprefix("error: ") or f"hql ended with status {code}"
