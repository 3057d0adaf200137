"""The consumer Worker of the host's tests: its messages say what to do with them."""

import asyncio

from workers import WorkerEntrypoint, WorkflowEntrypoint
from workers.workflows import NonRetryableError

STATE = {"interpreter": "first"}


class Default(WorkerEntrypoint):
    async def queue(self, batch, *rest):
        await _note(self.env, "queue_arguments", repr(rest))
        if batch.queue == "work-dead":
            return
        for message in batch.messages:
            await ORDERS[message.body["do"]](self, message)

    async def scheduled(self, controller, *rest):
        await _note(self.env, "scheduled_arguments", repr(rest))
        await _note(self.env, "scheduled", controller.cron)
        if controller.cron == "0 0 1 1 *":
            raise LookupError("the cron went wrong")

    async def echo(self, *values):
        return {"types": [type(value).__name__ for value in values], "values": list(values)}

    async def keywords(self, *values):
        return [dict(value) for value in values]

    def plain(self, number):
        return number + 1

    async def explode(self):
        raise LookupError("back went wrong")


class Desk(WorkerEntrypoint):
    async def greet(self, name):
        return f"desk greets {name}"


class Flow(WorkflowEntrypoint):
    async def run(self, event, step):
        return await FLOWS[event["payload"]["mode"]](self, event, step)


async def _acknowledge(worker, message):
    message.ack()


async def _retry(worker, message):
    message.retry(delaySeconds=message.body.get("delay", 1))


async def _raise(worker, message):
    if message.attempts == 1:
        raise LookupError("the batch went wrong")


async def _always_raise(worker, message):
    raise LookupError("it always goes wrong")


async def _hang(worker, message):
    """Its first attempt never ends; whoever comes after the death finds a fresh interpreter."""
    mark = message.body["mark"]
    await _note(worker.env, "hang_in", f"{mark} {STATE['interpreter']}")
    if message.attempts > 1:
        return
    STATE["interpreter"] = "has hung"
    while True:
        await _note(worker.env, "hanging", mark)
        await asyncio.sleep(0.02)


ORDERS = {
    "ack": _acknowledge,
    "retry": _retry,
    "raise": _raise,
    "always_raise": _always_raise,
    "hang": _hang,
}


async def _steps(worker, event, step):
    @step.do(
        "flaky",
        config={
            "retries": {"limit": 2, "delay": "10 milliseconds", "backoff": "constant"},
            "timeout": "30 seconds",
        },
    )
    async def flaky(ctx):
        if ctx["attempt"] < 2:
            raise ValueError("the first attempt fails")
        return {"attempt": ctx["attempt"]}

    @step.do("permanent")
    async def permanent():
        raise NonRetryableError("no use in trying again")

    flaked = await flaky()
    try:
        await permanent()
    except NonRetryableError as error:
        return {"attempt": flaked["attempt"], "permanent": str(error)}


async def _wait(worker, event, step):
    told = await step.wait_for_event("told", "word", timeout="1 minute")
    return {"told": told["payload"]}


async def _fail(worker, event, step):
    raise LookupError("the run went wrong")


async def _heartbeat(worker, event, step):
    while True:
        await _note(worker.env, "beat", event["instanceId"])
        await asyncio.sleep(0.02)


FLOWS = {"steps": _steps, "wait": _wait, "fail": _fail, "heartbeat": _heartbeat}


async def _note(env, kind, text):
    sql = "INSERT INTO notes (kind, text) VALUES (?1, ?2)"
    await env.DB.prepare(sql).bind(kind, text).run()
