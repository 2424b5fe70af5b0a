/** Bakers' accounts: opening one, signing in and out, and who is asking. */
import { createHash, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { Problem, text } from './checks.js';

const derive = promisify(scrypt);
const SESSION_MS = 30 * 86_400_000;
const TRIES = 10;
const TRIES_MS = 15 * 60_000;

const digest = (token) => createHash('sha256').update(token).digest('hex');
const EMAIL = { max: 200, pattern: /^[^\s@]+@[^\s@]+\.[^\s@]+$/, what: 'your e-mail address' };
const PASSWORD = { min: 10, max: 200, what: 'a password of at least 10 characters' };

export async function sealPassword(password) {
  const salt = randomBytes(16).toString('hex');
  return `${salt}:${(await derive(password, salt, 32)).toString('hex')}`;
}

async function fits(password, sealed) {
  const [salt, expected] = sealed.split(':');
  return timingSafeEqual(Buffer.from(expected, 'hex'), await derive(password, salt, 32));
}

const cookie = (value, maxAge, secure) =>
  `session=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAge}${secure ? '; Secure' : ''}`;

function startSession({ db, now, secure }, bakerId) {
  const token = randomBytes(32).toString('hex');
  db.prepare('DELETE FROM sessions WHERE expires_at <= ?').run(now());
  db.prepare('INSERT INTO sessions VALUES (?, ?, ?)').run(digest(token), bakerId, now() + SESSION_MS);
  return { 'set-cookie': cookie(token, SESSION_MS / 1000, secure) };
}

const tokenOf = (request) => /(?:^|;\s*)session=([0-9a-f]{64})/.exec(request.headers.cookie ?? '')?.[1] ?? '';

/** @throws Problem when nobody is signed in */
export function requireBaker({ db, now, request }) {
  const baker = db
    .prepare(
      `SELECT bakers.id, bakery, place FROM sessions JOIN bakers ON bakers.id = baker_id
       WHERE token_hash = ? AND expires_at > ?`,
    )
    .get(digest(tokenOf(request)), now());
  if (!baker) throw new Problem(401, 'signed_out', 'Please sign in.');
  return baker;
}

export async function signUp(context) {
  const { db, body } = context;
  const email = text(body, 'email', EMAIL);
  const bakery = text(body, 'bakery', { max: 60, what: 'the name of your bakery, at most 60 characters' });
  const place = text(body, 'place', { max: 120, what: 'the place of collection, at most 120 characters' });
  const password = await sealPassword(text(body, 'password', PASSWORD));
  const { changes, lastInsertRowid } = db
    .prepare('INSERT INTO bakers (email, password, bakery, place) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING')
    .run(email, password, bakery, place);
  if (changes === 0) throw new Problem(409, 'email_taken', 'This e-mail address has an account. Sign in instead.');
  return { status: 201, body: { bakery, place }, headers: startSession(context, lastInsertRowid) };
}

/** Counts a try before the password is checked, so that many tries at once do not slip past. */
function countTry({ tries, now }, email) {
  for (const [address, { since }] of tries) if (since <= now() - TRIES_MS) tries.delete(address);
  const entry = tries.get(email) ?? { since: now(), count: 0 };
  entry.count += 1;
  tries.set(email, entry);
  if (entry.count > TRIES) throw new Problem(429, 'too_many_tries', 'Too many tries. Wait 15 minutes.');
}

export async function signIn(context) {
  const { db, body, tries } = context;
  const email = text(body, 'email', EMAIL).toLowerCase();
  const password = text(body, 'password', { ...PASSWORD, min: 1, what: 'your password' });
  countTry(context, email);
  const baker = db.prepare('SELECT id, password, bakery, place FROM bakers WHERE email = ?').get(email);
  if (!baker || !(await fits(password, baker.password)))
    throw new Problem(401, 'wrong_sign_in', 'E-mail address and password do not belong together.');
  tries.delete(email);
  return { body: { bakery: baker.bakery, place: baker.place }, headers: startSession(context, baker.id) };
}

export function signOut({ db, request, secure }) {
  db.prepare('DELETE FROM sessions WHERE token_hash = ?').run(digest(tokenOf(request)));
  return { status: 204, headers: { 'set-cookie': cookie('', 0, secure) } };
}
