/** Checks what came from outside. A problem says which field is wrong and what to do about it. */

/** An answer that is not what the caller hoped for. */
export class Problem extends Error {
  constructor(status, code, message, more = {}) {
    super(message);
    Object.assign(this, { status, code, more });
  }
}

const wrong = (field, message) => new Problem(400, 'invalid', message, { field });

/** @returns the text without spaces around it; control characters are refused */
export function text(body, field, { max, min = 1, what, pattern }) {
  const value = typeof body[field] === 'string' ? body[field].trim() : undefined;
  const fits = value !== undefined && value.length >= min && value.length <= max && !/\p{Cc}/u.test(value);
  if (!fits || (value && pattern && !pattern.test(value))) throw wrong(field, `Please give ${what}.`);
  return value;
}

export function whole(body, field, { min, max, what }) {
  const value = body[field];
  if (!Number.isInteger(value) || value < min || value > max)
    throw wrong(field, `Please give ${what}: a whole number from ${min} to ${max}.`);
  return value;
}

export function list(body, field, { max, what }) {
  const items = body[field];
  const isList = Array.isArray(items) && items.every((item) => item !== null && typeof item === 'object');
  if (!isList || items.length < 1 || items.length > max) throw wrong(field, `Please give 1 to ${max} ${what}.`);
  return items;
}

/** Refuses a list in which two items have the same value. */
export function distinct(values, field, message) {
  if (new Set(values).size < values.length) throw wrong(field, message);
}

const DAY = 86_400_000;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** @returns milliseconds; the instant lies ahead, and not more than 90 days */
export function instant(body, field, now) {
  const value = INSTANT.test(body[field]) ? Date.parse(body[field]) : NaN;
  if (!(value > now && value <= now + 90 * DAY))
    throw wrong(field, 'Choose a closing time that lies ahead, at most 90 days from now.');
  return value;
}
