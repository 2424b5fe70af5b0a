/**
 * Reading what a stranger sends: never more than asked for, however long or compressed it is. That it comes to an end
 * at all is seen to in limits.ts, where every response is from.
 */

/** The first `maxBytes` of a body, after decompression; the rest is not downloaded. */
export const readCapped = async (response: Response, maxBytes: number): Promise<{ bytes: Buffer; cut: boolean }> => {
  const { bytes, cut, error } = await readBeginning(response, maxBytes);
  if (error !== undefined) throw error;
  return { bytes, cut };
};

/** The same of a body that may break off: what came before that, and why. */
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

/** All of a body, as UTF-8. @throws BodyLimitError */
export const readText = (response: Response): Promise<string> => response.text();

/** For whom the status says it all. Closes the connection. */
export const discard = async ({ body }: Response): Promise<void> => body?.cancel();
