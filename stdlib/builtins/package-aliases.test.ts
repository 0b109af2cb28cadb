// builtins.md C9: the services of the built-ins' package under other packages.
import { afterEach, expect, test } from 'vitest';
import { compile } from '../../compiler/index.ts';
import { aliasBuiltinPackage, builtinTable } from './index.ts';

afterEach(() => aliasBuiltinPackage([]));

const text = 'PROCEDURE p() return com.acme.text.Strings.format("{0}", ["x"])';
const compiled = () => compile(text, { builtins: builtinTable() });

test('an alias leads to the same built-in, and is gone when it is not set', () => {
  aliasBuiltinPackage(['com.acme', 'org.other']);
  const under = compiled();
  expect(under.ok && under.unit.module.source).toContain('io.service.text.Strings.format');
  expect(builtinTable().get('org.other.text.Strings.format')).toBe(builtinTable().get('io.service.text.Strings.format'));
  aliasBuiltinPackage([]);
  const without = compiled();
  expect(without.ok && without.unit.module.source).not.toContain('io.service');
});
