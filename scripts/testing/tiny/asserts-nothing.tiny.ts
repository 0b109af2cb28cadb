import { test } from 'vitest';

test('asserts nothing', () => undefined);
