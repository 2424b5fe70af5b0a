/** Queues items by workspace and hands them out round robin: a long backlog of one workspace delays only itself. */
import { present } from '../core/present.ts';

export interface FairQueue<Item> {
  /** Counts the items of all workspaces. */
  readonly size: number;
  sizeFor(workspace: string): number;
  /** @param isFirst puts the item before the others of its workspace */
  push(workspace: string, item: Item, isFirst?: boolean): void;
  /** Returns whether the item was still waiting. */
  remove(workspace: string, item: Item): boolean;
  /** Takes the next item of the first workspace in turn that `canServe` accepts. */
  shift(canServe?: (workspace: string) => boolean): { workspace: string; item: Item } | undefined;
}

export function createFairQueue<Item>(): FairQueue<Item> {
  /** The first workspace has the next turn. */
  const waiting = new Map<string, Item[]>();
  let size = 0;

  function take(workspace: string, items: Item[], index: number): Item {
    const [item] = items.splice(index, 1);
    size -= 1;
    if (items.length === 0) waiting.delete(workspace);
    return present(item);
  }

  return {
    get size() {
      return size;
    },
    sizeFor: (workspace) => waiting.get(workspace)?.length ?? 0,
    push(workspace, item, isFirst = false) {
      const items = waiting.get(workspace);
      if (!items) waiting.set(workspace, [item]);
      else if (isFirst) items.unshift(item);
      else items.push(item);
      size += 1;
    },
    remove(workspace, item) {
      const items = waiting.get(workspace) ?? [];
      const index = items.indexOf(item);
      if (index < 0) return false;
      take(workspace, items, index);
      return true;
    },
    shift(canServe = () => true) {
      for (const [workspace, items] of waiting) {
        if (!canServe(workspace)) continue;
        const item = take(workspace, items, 0);
        if (waiting.delete(workspace)) waiting.set(workspace, items);
        return { workspace, item };
      }
      return undefined;
    },
  };
}
