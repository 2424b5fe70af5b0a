/**
 * `node --import`: resolves the imports that need no looking, which is a third of the time that a process takes to start.
 * Node stats each file and reads the package.json around it anew: that of drizzle-orm has 179 kB and is around 104 modules.
 */
import * as nodeModule from 'node:module';

const OWN = new URL('..', import.meta.url).href;
const PACKAGES = new URL('node_modules/', OWN).href;
/** They have many modules, which are ES modules throughout where one of them is imported. */
const MANY = ['drizzle-orm/', 'zod/'].map((name) => PACKAGES + name);

/** Of packages, as our own modules see them: by name and whether they are imported or required. */
const found = new Map();

// Set-up and npm may run on another Node than the service, one that has no hooks.
nodeModule.registerHooks?.({
  resolve(specifier, context, next) {
    const { parentURL: parent, conditions } = context;
    if (!parent?.startsWith(OWN)) return next(specifier, context);
    if (specifier.startsWith('.')) {
      const format = specifier.endsWith('.ts')
        ? 'module-typescript'
        : specifier.endsWith('.js') && MANY.some((folder) => parent.startsWith(folder)) && 'module';
      return format ? { url: new URL(specifier, parent).href, format, shortCircuit: true } : next(specifier, context);
    }
    if (parent.startsWith(PACKAGES)) return next(specifier, context);
    const key = `${specifier} ${conditions}`;
    const known = found.get(key) ?? next(specifier, context);
    found.set(key, known);
    return { ...known, shortCircuit: true };
  },
});
