/** Makes lines of the pieces of text that a page of a PDF has. Pure. */
import { createCollector } from './model.ts';

interface Piece {
  str: string;
  dir: string;
  width: number;
  hasEOL: boolean;
  /** Of six numbers: the first two say how large it is, the last two where it stands. */
  transform: number[];
}

/** Counted in the size of the font; words of a justified line are not so far apart. */
const CELL_GAP = 0.8;
/** Letters of Hebrew and Arabic in the form that they have beside others. */
const SHAPED = /[\ufb1d-\ufdff\ufe70-\ufefc]+/g;

export function linesOf(pieces: Iterable<Piece>): string {
  const out = createCollector();
  /** Pieces that are written from right to left, which may stand in the order of the page. */
  let run: Piece[] = [];
  const say = (all: readonly Piece[]) => {
    for (const piece of all) out.add(textOf(piece));
  };
  const endRun = () => {
    const spaces = run.slice(run.findLastIndex(({ str }) => str.trim() !== '') + 1);
    const written = run.slice(0, run.length - spaces.length);
    say(isFromTheLeft(written) ? written.toReversed() : written);
    say(spaces);
    run = [];
  };
  for (const piece of pieces) {
    if (piece.dir === 'rtl' || (run.length > 0 && piece.str.trim() === '')) run.push(piece);
    else {
      endRun();
      say([piece]);
    }
    if (!piece.hasEOL) continue;
    endRun();
    out.add('\n');
  }
  endRun();
  return out.all().trim();
}

/** A gap wider than between words parts the cells of a table. */
function textOf({ str, width, transform: [a = 0, b = 0] }: Piece): string {
  if (str === ' ') return width > CELL_GAP * Math.hypot(a, b) ? '\t' : ' ';
  return str.replace(SHAPED, (letters) => letters.normalize('NFKC'));
}

function isFromTheLeft(run: readonly Piece[]): boolean {
  const [first, last] = [run[0], run.at(-1)];
  return first !== undefined && last !== undefined && (first.transform[4] ?? 0) < (last.transform[4] ?? 0);
}
