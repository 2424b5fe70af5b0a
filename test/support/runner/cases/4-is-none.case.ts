import { test } from '@jest/globals';

test('is never reached', () => {});
throw new Error('not loaded');
