import { expect, test } from 'vitest';
import { DateTime, parseDecimal } from '../../../../stdlib/values/index.ts';
import { headersOf } from './values-0-9-1.ts';

test('headers of each type are values of the language', () => {
  const seen = headersOf({
    text: 'a',
    bytes: Buffer.from('ä'),
    yes: true,
    whole: 5,
    part: 0.5,
    none: null,
    at: { '!': 'timestamp', value: 1_700_000_000 },
    price: { '!': 'decimal', value: { places: 2, digits: 1250 } },
    list: [1, { '!': 'timestamp', value: 0 }],
    table: { in: { '!': 'decimal', value: { places: 0, digits: 7 } } },
  });
  expect(seen).toEqual({
    text: 'a',
    bytes: 'ä',
    yes: true,
    whole: 5,
    part: 0.5,
    none: null,
    at: new DateTime(1_700_000_000_000),
    price: parseDecimal('12.50'),
    list: [1, new DateTime(0)],
    table: { in: parseDecimal('7') },
  });
});

test('at the bounds: an instant beyond all dates is its number of seconds, a table with a member ! stays one', () => {
  const seen = headersOf({
    far: { '!': 'timestamp', value: 2 ** 60 },
    tiny: { '!': 'decimal', value: { places: 255, digits: 12 } },
    mine: { '!': 'other', value: 1 },
    odd: { '!': 'decimal', value: 3 },
  });
  expect(seen).toEqual({
    far: 2 ** 60,
    tiny: parseDecimal(`0.${'0'.repeat(253)}12`),
    mine: { '!': 'other', value: 1 },
    odd: { '!': 'decimal', value: 3 },
  });
});

test('headers nest as deep as other values from outside', () => {
  const nested = (levels: number): object => (levels === 0 ? {} : { in: levels % 2 === 0 ? nested(levels - 1) : [nested(levels - 1)] });
  expect(() => headersOf(nested(66))).not.toThrow();
  expect(() => headersOf(nested(67))).toThrow('nesting deeper than 100');
});
