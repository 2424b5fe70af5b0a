/** Reading what a stranger sends: never more than asked for, however long or compressed it is. */

/** The first `maxBytes` of a body, after decompression; the rest is not downloaded. */
export const readCapped = async (response: Response, maxBytes: number): Promise<{ bytes: Buffer; cut: boolean }> => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop early cancels the body, which closes the connection.
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size > maxBytes) break;
  }
  return { bytes: Buffer.concat(chunks).subarray(0, maxBytes), cut: size > maxBytes };
};
