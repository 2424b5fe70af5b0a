/**
 * What the one who asks knows to be there, and the type does not: looked at, instead of claimed. Whoever was wrong is told
 * where, and not by something that happens later. Imports nothing: workflows use it too.
 */

/** Of strings and typed arrays, too. */
interface List<Item> {
  readonly length: number;
  at(index: number): Item | undefined;
}

/**
 * @param what it is, for whoever reads the error
 * @throws Error where it is null or undefined
 */
export function present<Value>(value: Value, what = 'a value'): NonNullable<Value> {
  if (value === null || value === undefined) throw new Error(`expected ${what}, and there is none`);
  return value;
}

/**
 * @param index from the end where it is negative
 * @throws Error where the list is shorter
 */
export function itemAt<Item>(list: List<Item>, index: number): Item {
  const item = list.at(index);
  if (item === undefined) throw new Error(`expected an item at ${index}, and the list has ${list.length}`);
  return item;
}

/** @throws Error where the list is empty */
export const first = <Item>(list: List<Item>): Item => itemAt(list, 0);

/** @throws Error where the list is empty */
export const last = <Item>(list: List<Item>): Item => itemAt(list, -1);

/** The first of a list. @throws Error where it has less */
export function take<Item>(list: List<Item>, count: 2): [Item, Item];
export function take<Item>(list: List<Item>, count: 3): [Item, Item, Item];
export function take<Item>(list: List<Item>, count: 4): [Item, Item, Item, Item];
export function take<Item>(list: List<Item>, count: number): Item[] {
  return Array.from({ length: count }, (_, index) => itemAt(list, index));
}
