"""A command in a session of swe-rex, once for each line that is read."""

import asyncio
import sys
import time

try:
    from swerex.runtime.abstract import BashAction, CreateBashSessionRequest
    from swerex.runtime.local import LocalRuntime
except ImportError as error:
    print("absent swe-rex cannot be imported:", str(error).replace("\n", " "))
    sys.exit(0)


async def main():
    runtime = LocalRuntime()
    await runtime.create_session(CreateBashSessionRequest())
    print("ready", flush=True)
    for line in sys.stdin:
        if line != "op\n":
            sys.exit(f"asked {line!r}")
        started = time.perf_counter_ns()
        seen = await runtime.run_in_session(BashAction(command="/usr/bin/echo ready"))
        took = time.perf_counter_ns() - started
        if seen.output.strip() != "ready":
            sys.exit(f"it said {seen.output!r}")
        print(took, flush=True)
    await runtime.close()


asyncio.run(main())
