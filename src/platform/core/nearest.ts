/** Finds the word that somebody may have meant. */

/** Longer words are no slips of the keyboard, and comparing them would take its time. */
const MAX_LENGTH = 64;
/** Comparing takes some microseconds for each of the known names. */
const MAX_KNOWN = 1_000;
/** A part of a name, such as `budget` of `cost_budget_usd`, tells something from this length on. */
const MIN_PART = 4;

/** @returns the known word that is nearest to `word`, or undefined where none is near */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > MAX_LENGTH) return undefined;
  const asked = plain(word);
  const allowed = Math.max(1, Math.floor(asked.length / 3));
  let best: { name: string; far: number } | undefined;
  for (const name of known.slice(0, MAX_KNOWN)) {
    const other = plain(name);
    const isPart = holds(other, asked) || holds(asked, other);
    // The lengths alone differ by more than may be wrong: the letters need not be compared.
    if (!isPart && Math.abs(other.length - asked.length) > allowed) continue;
    const far = other.length > MAX_LENGTH ? other.length : distance(asked, other);
    if ((isPart || far <= allowed) && far < (best?.far ?? Infinity)) best = { name, far };
  }
  return best?.name;
}

/** `costBudgetUSD`, `cost-budget-usd` and `cost_budget_usd` are one name. */
const plain = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
const holds = (whole: string, part: string): boolean => part.length >= MIN_PART && whole.includes(part);

/** Counts the letters that are wrong, missing, too many, or changed places with their neighbour. */
function distance(a: string, b: string): number {
  let [beforeLast, last]: number[][] = [[], Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwapped ? at(beforeLast, j - 2) + 1 : Infinity;
      row.push(Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + (isSame ? 0 : 1), swapped));
    }
    [beforeLast, last] = [last, row];
  }
  return at(last, b.length);
}
const at = (row: readonly number[] | undefined, index: number): number => row?.[index] ?? Infinity;
