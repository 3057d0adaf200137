/**
 * `waitUntil` for Python: a coroutine given to it must outlive the call that made it, so its proxy is
 * copied, awaited and destroyed here. It ends with the interpreter that it belongs to.
 */
import * as workers from "cloudflare:workers";

async function finish(work) {
  const own = work?.copy ? work.copy() : work; // before this call returns: the caller's proxy dies with it
  try {
    return await own;
  } finally {
    own?.destroy?.();
  }
}

const isContext = (value) =>
  Object.prototype.toString.call(value) === "[object ExecutionContext]";

/** @param {(work: Promise<unknown>) => Promise<unknown>} untilDeath */
export function waitUntilFor(untilDeath) {
  const patched = new WeakSet();
  const extend = (native) => (work) => native(untilDeath(finish(work)));
  return {
    /** The SDK calls this with each ctx. */
    patchWaitUntil(ctx) {
      if (!isContext(ctx) || patched.has(ctx)) return;
      patched.add(ctx);
      ctx.waitUntil = extend(ctx.waitUntil.bind(ctx));
    },
    /** `cloudflare:workers` as the SDK sees it. */
    cloudflareWorkersModule: new Proxy(workers, {
      get: (module, name) =>
        name === "waitUntil" ? extend(module.waitUntil) : module[name],
    }),
  };
}
