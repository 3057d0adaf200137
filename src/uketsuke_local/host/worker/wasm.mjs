/**
 * WebAssembly from bytes, which workerd refuses: Pyodide compiles small modules of its own, native
 * wheels are compiled when they are imported, and one such call is made while Pyodide's file is evaluated.
 */
import { env } from "cloudflare:workers";
import { timed } from "./event.mjs";
import runtime from "./pyodide/pyodide.asm.wasm";

const NativeModule = WebAssembly.Module;

function compile(source) {
  const bytes =
    source instanceof Uint8Array
      ? source
      : new Uint8Array(source.buffer ?? source);
  return env.UNSAFE_EVAL.newWasmModule(bytes);
}

WebAssembly.Module = new Proxy(NativeModule, {
  construct: (_, [source]) => compile(source),
});
WebAssembly.compile = async (source) => compile(source);
WebAssembly.instantiate = async (source, imports) => {
  if (source instanceof NativeModule)
    return new WebAssembly.Instance(source, imports);
  const module = compile(source);
  return { module, instance: new WebAssembly.Instance(module, imports) };
};
WebAssembly.instantiateStreaming = async (_, imports) => ({
  module: runtime,
  instance: new WebAssembly.Instance(runtime, imports),
});

const nativePromising = WebAssembly.promising;

WebAssembly.promising = (wasmFunction) => {
  const native = nativePromising(wasmFunction);
  return (...args) => timed(() => native(...args));
};
