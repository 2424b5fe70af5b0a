/** How the console is built. No plug-in for React: JSX is compiled by Vite itself, and a change reloads the page. */
import tailwind from '@tailwindcss/vite';
import { defineConfig } from 'vite';

/** A running service, for `npm run console:dev`. */
const SERVICE = process.env.SERVICE_URL ?? 'http://localhost:8080';
const forwarded = Object.fromEntries(['/api', '/login', '/logout', '/docs', '/openapi'].map((path) => [path, SERVICE]));

export default defineConfig({
  base: '/console/',
  plugins: [tailwind()],
  build: {
    outDir: '../.cache/console',
    emptyOutDir: true,
    // Browsers that know `light-dark()`, `popover` and `<dialog>`.
    target: ['chrome125', 'firefox128', 'safari18'],
    cssTarget: ['chrome125', 'firefox128', 'safari18'],
    // What is small would become a `data:` address, which the policy allows for images alone.
    assetsInlineLimit: 0,
    manifest: 'manifest.json',
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    license: { fileName: 'licenses.md' },
  },
  server: { proxy: forwarded },
});
