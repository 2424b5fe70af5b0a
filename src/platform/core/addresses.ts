/** Mail addresses identify people in this service: members, sign-ins and confirmation codes are looked up by them. */

const MAX_ADDRESS_LENGTH = 254;

/**
 * @returns the address in lower case, which is how every address is stored and looked up; undefined where the text is
 * none
 */
export function addressIn(text: string): string | undefined {
  const address = text.trim().toLowerCase();
  // `owner@localhost` counts as an address too, because the mail server decides what it delivers to.
  const isAddress =
    address.length <= MAX_ADDRESS_LENGTH && /^[^\s@\p{C}"(),:;<>[\\\]]+@[^\s@\p{C}"(),:;<>[\\\]]+$/u.test(address);
  return isAddress ? address : undefined;
}
