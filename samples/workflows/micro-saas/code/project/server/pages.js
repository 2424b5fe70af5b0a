/** The files of the client. Only those listed here are ever read, whatever an address says. */
import { readFile } from 'node:fs/promises';

const CLIENT = new URL('../client/', import.meta.url);
const FILES = {
  '/': ['index.html', 'text/html'],
  '/baker.js': ['baker.js', 'text/javascript'],
  '/order.js': ['order.js', 'text/javascript'],
  '/web.js': ['web.js', 'text/javascript'],
  '/style.css': ['style.css', 'text/css'],
  '/loaf.svg': ['loaf.svg', 'image/svg+xml'],
};
/** A bake or an order; the script asks which. */
const ORDER_PAGE = /^\/[bo]\/[0-9a-f]+$/;

/** @returns a reply, or nothing when there is no page at this path */
export async function readPage(path) {
  const found = ORDER_PAGE.test(path) ? ['order.html', 'text/html'] : Object.hasOwn(FILES, path) && FILES[path];
  if (!found) return undefined;
  const [name, type] = found;
  return { page: await readFile(new URL(name, CLIENT)), headers: { 'content-type': `${type}; charset=utf-8` } };
}
