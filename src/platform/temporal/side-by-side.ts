/**
 * Makes many calls of Temporal, so many at once: each has a deadline of its own, which all at once would spend in the
 * queue.
 */

const SIDE_BY_SIDE = 20;

/** @param isOver asked after each call; once it is true, what has not begun is left out */
export async function sideBySide<Row>(
  rows: readonly Row[],
  handle: (row: Row) => Promise<unknown>,
  isOver = () => false,
): Promise<void> {
  const left = rows.values();
  const lane = async () => {
    for (const row of left) {
      await handle(row);
      if (isOver()) return;
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, lane));
}
