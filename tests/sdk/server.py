"""A server for the tests of the clients in sdk/, and the examples of their READMEs."""

import contextlib
import pathlib
import re
import subprocess
import tempfile


@contextlib.contextmanager
def server(holdfast, *flags):
    """Runs a server, and returns its URL."""
    with tempfile.TemporaryDirectory(prefix="holdfast-sdk-", dir="/var/tmp") as home:
        words = [holdfast, "exec-server", "--log-level", "warn", "--sandbox-check=false", *flags]
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, cwd=home)
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()
            process.wait()
            process.stdout.close()


def examples(readme, language):
    """Returns the examples of a README, each with the output that stands below it."""
    text = pathlib.Path(readme).read_text()
    return re.findall(rf"```{language}\n(.*?)```\n\n```text\n(.*?)```", text, re.DOTALL)
