/** Shows people what a tool was called with: the start of it, and no secrets. */
const MAX_LENGTH = 200;
const NAMES_A_SECRET = /auth|cookie|credential|key|pass(word|phrase)|secret|session|signature|token/i;

/** @param args undefined where they are too long to be looked at */
export const previewOf = (args: unknown): string => {
  if (args === null) return '…';
  const text = JSON.stringify(args, (name, value: unknown) =>
    value !== null && NAMES_A_SECRET.test(name) ? '***' : value,
  );
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH - 1).toWellFormed()}…` : text;
};
