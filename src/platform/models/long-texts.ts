/** Embeds a text that is longer than a model reads at once: piece by piece, with the mean of their vectors. */

/** Only the first characters of a text are embedded; the rest is left out. */
export const MAX_CHARACTERS = 16_000;

/** Cuts at the end of a line, a sentence or a word, whichever there is. Servers refuse a text without anything in it. */
function* piecesOf(text: string, size: number): Generator<string> {
  let rest = text.trim().slice(0, MAX_CHARACTERS).toWellFormed() || '.';
  while (rest !== '') {
    const end = rest.length <= size ? rest.length : endOfPiece(rest.slice(0, size));
    yield rest.slice(0, end).trim().toWellFormed() || '.';
    rest = rest.slice(end).trimStart();
  }
}

const BOUNDARIES = ['\n', '. ', '。', '؟', '। ', ' '];

function endOfPiece(text: string): number {
  for (const boundary of BOUNDARIES) {
    const at = text.lastIndexOf(boundary);
    if (at > text.length / 2) return at + 1;
  }
  return text.length;
}

export const normalized = (vector: readonly number[]): number[] => {
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
};

/** Averages vectors of unit length; a piece counts for as much as it is long. */
function meanOf(vectors: readonly (readonly number[])[], pieces: readonly string[]): number[] {
  const [first = []] = vectors;
  return normalized(
    first.map((_, at) => vectors.reduce((sum, vector, i) => sum + (vector[at] ?? 0) * (pieces[i]?.length ?? 0), 0)),
  );
}

/**
 * @param embed makes the vectors of short pieces
 * @returns one vector of unit length for each text
 */
export async function embedInPieces(
  texts: readonly string[],
  size: number,
  embed: (pieces: readonly string[]) => Promise<number[][]>,
): Promise<number[][]> {
  const pieces = texts.map((text) => [...piecesOf(text, size)]);
  const vectors = await embed(pieces.flat());
  let from = 0;
  return pieces.map((own) => meanOf(vectors.slice(from, (from += own.length)).map(normalized), own));
}
