/**
 * Reads what a stranger sends, and never more than asked for, however long or compressed it is. `limits.ts`, which
 * every response comes from, sees to it that a body ends at all.
 */

/** @returns the first `maxBytes` of a body, counted after decompression; the rest is not downloaded */
export const readCapped = async (response: Response, maxBytes: number): Promise<{ bytes: Buffer; cut: boolean }> => {
  const { bytes, cut, error } = await readBeginning(response, maxBytes);
  if (error !== undefined) throw error;
  return { bytes, cut };
};

/** Reads a body that may break off. @returns what came before that, and why it broke off */
export async function readBeginning(
  { body }: Response,
  maxBytes: number,
): Promise<{ bytes: Buffer; cut: boolean; error?: unknown }> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const read = () => ({ bytes: Buffer.concat(chunks).subarray(0, maxBytes), cut: size > maxBytes });
  try {
    // Leaving the loop early cancels the body, which closes the connection.
    for await (const chunk of body ?? []) {
      chunks.push(chunk);
      size += chunk.byteLength;
      if (size > maxBytes) break;
    }
  } catch (error) {
    return { ...read(), error };
  }
  return read();
}

/** @returns all of a body as UTF-8 text @throws BodyLimitError */
export const readText = (response: Response): Promise<string> => response.text();

/** Gives up a body whose status said everything, and closes the connection. */
export const discard = async ({ body }: Response): Promise<void> => body?.cancel();
