/** Bounds the statements that are made of a list: Postgres takes 65,535 parameters, and a long statement holds up others. */
const BATCH = 1_000;

/** Asks for `items` in batches, one statement after another. Returns all that the statements gave. */
export async function inBatches<Item, Row>(
  items: readonly Item[],
  ask: (batch: Item[]) => Promise<Iterable<Row>>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let at = 0; at < items.length; at += BATCH) rows.push(...(await ask(items.slice(at, at + BATCH))));
  return rows;
}
