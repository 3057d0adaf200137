/** Events for the parent, one JSON object a line on stdout. */

/** @param {string} event @param {object} [members] */
export function emit(event, members = {}) {
  process.stdout.write(`${JSON.stringify({ event, ...members })}\n`);
}

const MARK = "\u001f";

/** Forward a log line of workerd; the host's own lines say which Worker they come from. */
export function emitLog({ level, message }) {
  const text = String(message);
  const end = text.indexOf(MARK, 1);
  const marked = text.startsWith(MARK) && end > 0;
  emit("log", {
    worker: marked ? text.slice(1, end) : null,
    level,
    line: marked ? text.slice(end + 1) : text,
  });
}
