"""Processes that do not outlive this one, and the search for what they leave behind."""
import asyncio
import contextlib
import ctypes
import os
import pathlib
import signal

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
STOP_SECONDS = 10

_libc = ctypes.CDLL(None, use_errno=True)


def adopt_orphans():
    """What a child leaves behind becomes our own child, so that it can be found."""
    _libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


async def spawn(*argv, **options):
    def die_with_parent():
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)

    # A session of its own keeps a Ctrl-C from it: whoever started it stops it.
    options |= {"start_new_session": True, "preexec_fn": die_with_parent}
    return await asyncio.create_subprocess_exec(*map(str, argv), **options)


async def stop(process):
    """Asks the process to end, then kills it."""
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    try:
        await asyncio.wait_for(process.wait(), STOP_SECONDS)
    except asyncio.TimeoutError:
        process.kill()
        await process.wait()


def living(parent):
    """Command lines of the children of `parent`, by pid; the dead are reaped if they are ours."""
    children = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):  # it has ended meanwhile
            state, ppid = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
            if int(ppid) != parent:
                continue
            if state != "Z":
                arguments = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
                children[int(entry.name)] = " ".join(arguments).strip()
            elif parent == os.getpid():
                os.waitpid(int(entry.name), os.WNOHANG)
    return children


async def gone(parent, seconds):
    """Waits until `parent` has no child; returns those that are still there after `seconds`."""
    deadline = asyncio.get_running_loop().time() + seconds
    while (children := living(parent)) and asyncio.get_running_loop().time() < deadline:
        await asyncio.sleep(0.05)
    return children


async def kill_orphans():
    """Kills what has become our child, and what that leaves behind in turn."""
    deadline = asyncio.get_running_loop().time() + STOP_SECONDS
    while (orphans := living(os.getpid())) and asyncio.get_running_loop().time() < deadline:
        for pid in orphans:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        await asyncio.sleep(0.05)
