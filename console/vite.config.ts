/**
 * Says how the console is built. It needs no plug-in for React, because Vite compiles JSX itself and a change reloads
 * the page.
 */
import tailwind from '@tailwindcss/vite';
import { defineConfig } from 'vite';

/** The running service that `npm run console:dev` uses. */
const SERVICE = process.env.SERVICE_URL ?? 'http://localhost:8080';
const forwarded = Object.fromEntries(['/api', '/login', '/logout', '/docs', '/openapi'].map((path) => [path, SERVICE]));

export default defineConfig({
  base: '/console/',
  plugins: [tailwind()],
  build: {
    outDir: '../.cache/console',
    emptyOutDir: true,
    // These are the first browsers that know `light-dark()`, `popover` and `<dialog>`.
    target: ['chrome125', 'firefox128', 'safari18'],
    cssTarget: ['chrome125', 'firefox128', 'safari18'],
    // A small file would become a `data:` address, which the content security policy allows for images alone.
    assetsInlineLimit: 0,
    manifest: 'manifest.json',
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    license: { fileName: 'licenses.md' },
  },
  server: { proxy: forwarded },
});
