/** `node test/support/programs/unpack-chromium.ts`: puts the browser of the npm package into the temporary directory (`TMPDIR`). */
import chromium from '@sparticuz/chromium';

await chromium.executablePath();
