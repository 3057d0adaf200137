/** What this Worker was handed by queues, for tests to read. */
const KEPT = 5000;
const kept = [];

export function record({ queue, messages }) {
  for (const { id, attempts, body } of messages) {
    kept.push({
      queue,
      id,
      attempts,
      at: new Date().toISOString(),
      body: JSON.stringify(body),
    });
  }
  kept.splice(0, kept.length - KEPT);
}

/** The last deliveries, oldest first. */
export function deliveries(queue) {
  return kept.filter((delivery) => delivery.queue === queue);
}
