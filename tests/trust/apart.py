"""Work in a child process, so that what hangs or dies there is an answer like others."""

import multiprocessing
import os
import signal
import traceback

HUNG, DIED = "hung", "died"
FORK = multiprocessing.get_context("fork")


def answers(work, items, seconds):
    """The answer of `work` to each item in turn: HUNG if it takes longer than that, DIED if the process ends, and the
    traceback as text if it raises."""
    items = list(items)
    done = 0
    while done < len(items):
        receiving, sending = FORK.Pipe(duplex=False)
        child = FORK.Process(target=serve, args=(work, items[done:], sending))
        child.start()
        sending.close()
        try:
            while done < len(items):
                if not receiving.poll(seconds):
                    yield HUNG
                    done += 1
                    break
                yield receiving.recv()
                done += 1
        except EOFError:
            yield DIED
            done += 1
        finally:
            end(child)
            receiving.close()


def serve(work, items, sending):
    os.setsid()
    for item in items:
        try:
            answer = work(item)
        except Exception:
            answer = traceback.format_exc()
        sending.send(answer)


def end(child):
    """With what it has started itself."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except OSError:
        child.kill()
    child.join()
