/**
 * `waitUntil` for Python: a coroutine given to it must outlive the call that made it, so its proxy is
 * copied, awaited and destroyed here.
 */
import * as workers from "cloudflare:workers";

const patched = new WeakSet();

async function finish(work) {
  const own = work?.copy ? work.copy() : work;
  return settle(own);
}

async function settle(own) {
  try {
    await own;
  } finally {
    own?.destroy?.();
  }
}

function extend(native) {
  // Copy before this call returns: the caller's proxy dies with it.
  return (work) => native(finish(work));
}

/** Called by the SDK with each ctx. */
export function patchWaitUntil(ctx) {
  if (Object.prototype.toString.call(ctx) !== "[object ExecutionContext]" || patched.has(ctx)) return;
  patched.add(ctx);
  ctx.waitUntil = extend(ctx.waitUntil.bind(ctx));
}

/** `cloudflare:workers` as the SDK sees it. */
export const cloudflareWorkersModule = new Proxy(workers, {
  get: (target, name) => (name === "waitUntil" ? extend(target.waitUntil) : target[name]),
});
