/** Starts the service, and forgets old names once a day. */
import { createServer } from 'node:http';
import { createApp } from './app.js';
import { openDatabase } from './db.js';
import { forgetNames } from './orders.js';

const { HOST = '127.0.0.1', PORT = '3000', DATABASE = 'ovenful.sqlite', SECURE_COOKIES = 'no' } = process.env;
const db = openDatabase(DATABASE);

forgetNames(db, Date.now());
setInterval(() => forgetNames(db, Date.now()), 86_400_000).unref();

createServer(createApp({ db, secure: SECURE_COOKIES === 'yes' })).listen(Number(PORT), HOST, () => {
  console.log(`Ovenful is open at http://${HOST}:${PORT}`);
});
