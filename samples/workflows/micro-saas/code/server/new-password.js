/** For the operator: `npm run new-password -- ida@example.com` sets a new password and signs the baker out. */
import { randomBytes } from 'node:crypto';
import { sealPassword } from './accounts.js';
import { openDatabase } from './db.js';

const db = openDatabase(process.env.DATABASE ?? 'ovenful.sqlite');
const baker = db.prepare('SELECT id FROM bakers WHERE email = ?').get(process.argv[2] ?? '');
if (!baker) throw new Error('No baker has this e-mail address.');
const password = randomBytes(9).toString('base64url');
db.prepare('UPDATE bakers SET password = ? WHERE id = ?').run(await sealPassword(password), baker.id);
db.prepare('DELETE FROM sessions WHERE baker_id = ?').run(baker.id);
console.log(`New password: ${password}`);
