/** Addresses of mail: what names a person here. */

const MAX_ADDRESS_LENGTH = 254;

/** In lower case, as everything that is looked up by it is kept; undefined when the text is no address. */
export function addressIn(text: string): string | undefined {
  const address = text.trim().toLowerCase();
  // `owner@localhost` is one too: the mail server decides what it delivers to.
  const isAddress =
    address.length <= MAX_ADDRESS_LENGTH && /^[^\s@\p{C}"(),:;<>[\\\]]+@[^\s@\p{C}"(),:;<>[\\\]]+$/u.test(address);
  return isAddress ? address : undefined;
}
