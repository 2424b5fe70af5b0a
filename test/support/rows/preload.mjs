/**
 * Gives every process that loads the product's database client one that records the rows of its statements
 * (`record.ts`); it is loaded by `node --import`. The address of this module names the folder of the records, because
 * processes that tests start keep only `NODE_OPTIONS` of the environment.
 */
import * as nodeModule from 'node:module';

const CLIENT = new URL('../../../src/platform/db/client.ts', import.meta.url).href;
const RECORDED = new URL(`recorded-client.ts${new URL(import.meta.url).search}`, import.meta.url).href;

// Set-up and npm may run on another Node than the tests, which may have no hooks.
nodeModule.registerHooks?.({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context);
    return resolved.url === CLIENT && context.parentURL !== RECORDED ? { ...resolved, url: RECORDED } : resolved;
  },
});
