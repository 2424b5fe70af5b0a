/** A secret that is kept beside an address belongs to the origin of that address: its scheme, host and port. */

/** @returns the origin of an http or https address, normalized; undefined if the value is no such address */
export function httpOrigin(value: unknown): string | undefined {
  if (typeof value !== 'string' || !URL.canParse(value)) return undefined;
  const { protocol, origin } = new URL(value);
  return protocol === 'https:' || protocol === 'http:' ? origin : undefined;
}

/**
 * Says why a secret that is not sent again cannot stay.
 * @param receiver what the secret was given for: an origin, or the program that is run with it
 */
export const keptSecretFault = (receiver: string | undefined): string =>
  `the secret was given for ${receiver ?? 'another address'} and stays there; send its value again to use it elsewhere`;
