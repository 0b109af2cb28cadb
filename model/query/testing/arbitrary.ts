// Random types, instances and where-objects for the tests: few names and few values, so that they meet.
import fc from 'fast-check';
import type { ObjectValue, Value } from '../../../stdlib/values/index.ts';
import { Real } from '../../../stdlib/values/index.ts';

/** What each kind is given as, in instances and as constants. */
export const SAMPLES: Readonly<Record<string, readonly Value[]>> = {
  String: ['', 'a', 'b', 'ab', 'A\n', 'a\nb', '\uffff', '\u{1f600}', '10', 'é'],
  Integer: [-1, 0, 1, 2, 10, 9007199254740993n, -9223372036854775808n, 9223372036854775807n],
  Real: [new Real(0), 0.5, 1.5, new Real(1), -2.25, new Real(1e300), 0.1, new Real(9007199254740992)],
  Boolean: [true, false],
  DateTime: ['2030-01-01T00:00:00Z', '2030-01-01', 0, -1, '1999-12-31T23:59:59.999Z'],
  Decimal: ['1.50', '2', '10.00', '-0.5', '0', '99999999999999999999.99'],
  Currency: ['USD:5', 'EUR:5.0000', 'USD:50', 'EUR:-1.5', 'JPY:0'],
  ResourceReference: ['/types/Pump', '/system.types/Pump', '/topics//a/b', '/users/ann'],
};

const SHAPES: readonly Value[] = [
  { type: 'Point', coordinates: [1, 1] },
  { type: 'Point', coordinates: [13.4, 52.5] },
  { coordinates: [13.5, 52.4], type: 'Point' },
  {
    type: 'LineString',
    coordinates: [
      [0.5, 0.5],
      [3, 3.5],
    ],
  },
  {
    type: 'Polygon',
    coordinates: [
      [
        [0, 0],
        [4, 0],
        [4, 4],
        [0, 4],
        [0, 0],
      ],
    ],
  },
  {
    type: 'Polygon',
    coordinates: [
      [
        [0, 0],
        [10, 0],
        [10, 10],
        [0, 10],
        [0, 0],
      ],
      [
        [2, 2],
        [2, 5],
        [5, 5],
        [5, 2],
        [2, 2],
      ],
    ],
  },
  {
    type: 'Polygon',
    coordinates: [
      [
        [12, 51],
        [15, 51],
        [15, 54],
        [12, 54],
        [12, 51],
      ],
    ],
  },
];

export const PROPERTIES: Readonly<Record<string, string>> = {
  s: 'String',
  ss: 'String multi',
  n: 'Integer',
  ns: 'Integer multi',
  r: 'Real',
  rs: 'Real multi',
  f: 'Boolean',
  fs: 'Boolean multi',
  w: 'DateTime',
  ws: 'DateTime multi',
  d: 'Decimal(2)',
  ds: 'Decimal(2) multi',
  m: 'Currency',
  ms: 'Currency multi',
  e: 'ResourceReference',
  es: 'ResourceReference multi',
  g: 'GeoJSON',
  o: 'Object',
  os: 'Object multi',
};

const oneOf = <T>(values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values);

/** Data without a type, as JSON has it. */
const data: fc.Arbitrary<Value> = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    oneOf<Value>([null, true, 'a', '1', 0, 1, 2, 1.5, new Real(1), 9007199254740993n, 'b']),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(oneOf(['a', 'b', 'k', '0']), tie('value'), { maxKeys: 3 }) as fc.Arbitrary<Value>,
  ),
})).value;
const object = fc.dictionary(oneOf(['a', 'b', 'k', '0']), data, { maxKeys: 3, noNullPrototype: true }) as fc.Arbitrary<ObjectValue>;

/** A value that a property of that declaration takes. */
function valueOf(declaration: string): fc.Arbitrary<Value> {
  const [name = ''] = declaration.split(/\W/);
  const one: fc.Arbitrary<Value> =
    name === 'Object' ? object : name === 'GeoJSON' ? oneOf(SHAPES) : oneOf(SAMPLES[name] as readonly Value[]);
  return declaration.includes('multi') ? fc.array(one, { maxLength: 3 }) : one;
}

export const instance: fc.Arbitrary<ObjectValue> = fc.record(
  Object.fromEntries(Object.entries(PROPERTIES).map(([name, declaration]) => [name, fc.option(valueOf(declaration), { freq: 5 })])),
  { requiredKeys: [], noNullPrototype: true },
) as fc.Arbitrary<ObjectValue>;

const PATTERNS = [
  'a',
  '^a',
  'b$',
  '^$',
  '^a.b',
  '[[:alpha:]]\\n',
  '(?i)A',
  '(?m)^b$',
  '\\s',
  '\\x61',
  '[^a]',
  'a|b',
  '(?s)a.b',
  'a{1,2}',
  '\\bab\\b',
];

const name = (names: readonly string[]) => oneOf(names);
const range = name(['$gt', '$gte', '$lt', '$lte']);
const single = (operator: string, operand: Value): ObjectValue => ({ [operator]: operand });

/** An operator object for values that are drawn from `constant`. */
function operators(constant: fc.Arbitrary<Value>, ordered: boolean, text: boolean, depth = 1): fc.Arbitrary<ObjectValue> {
  const nullable = fc.option(constant, { freq: 6 });
  const choices: fc.Arbitrary<ObjectValue>[] = [
    nullable.map((value) => ({ $eq: value })),
    nullable.map((value) => ({ $ne: value })),
    fc.array(nullable, { maxLength: 3 }).map((values) => ({ $in: values })),
    fc.array(nullable, { maxLength: 3 }).map((values) => ({ $nin: values })),
    fc.tuple(nullable, fc.array(nullable, { maxLength: 3 })).map(([$eq, $in]) => ({ $eq, $in })),
    fc.boolean().map((exists) => ({ $exists: exists })),
  ];
  if (ordered) choices.push(fc.tuple(range, constant).map(([operator, value]) => single(operator, value)));
  if (ordered) choices.push(fc.tuple(constant, constant).map(([low, high]) => ({ $gte: low, $lt: high })));
  if (text) choices.push(fc.tuple(oneOf(PATTERNS), oneOf(['', 'i', 'm', 's', 'x'])).map(([$regex, $options]) => ({ $regex, $options })));
  if (depth > 0) choices.push(operators(constant, ordered, text, depth - 1).map(($not) => ({ $not })));
  return fc.oneof(...choices);
}

const listOperators = (constant: fc.Arbitrary<Value>, inner: fc.Arbitrary<ObjectValue>): fc.Arbitrary<ObjectValue> =>
  fc.oneof(
    fc.array(constant, { maxLength: 3 }).map((values) => ({ $all: values })),
    fc.nat(3).map((size) => ({ $size: size })),
    inner.map((tests) => ({ $elemMatch: tests })),
  );

const shapeOperators: fc.Arbitrary<ObjectValue> = fc.oneof(
  oneOf(SHAPES).map((shape) => ({ $eq: shape })),
  oneOf(SHAPES).map((shape) => ({ $geoIntersects: { $geometry: shape } })),
  oneOf(SHAPES.slice(4)).map((shape) => ({ $geoWithin: { geometry: shape } })),
);

const DATA_PATHS = ['o', 'o.a', 'o.b', 'o.k', 'o.a.b', 'o.a.0', 'o.a.0.b', 'o.0', 'os.a', 'os.k.b', 'os.0.a', 'os.0', 'zz', 'n.x'];
const ELEMENT_PATHS = ['a', 'b', 'k', 'a.b', 'a.0', '0'];

function member(path: string, constant: fc.Arbitrary<Value>, tests: fc.Arbitrary<ObjectValue>): fc.Arbitrary<ObjectValue> {
  return fc.oneof({ weight: 1, arbitrary: constant }, { weight: 3, arbitrary: tests }).map((value) => ({ [path]: value }));
}

const dataMember = (paths: readonly string[], deep: boolean): fc.Arbitrary<ObjectValue> =>
  fc.tuple(oneOf(paths), fc.nat()).chain(([path]) => {
    const constant = path === 'o' || path === 'os' ? object : data;
    const scalar = data.filter((value) => value !== null && (typeof value !== 'object' || value instanceof Real));
    const tests = operators(constant, false, path !== 'o');
    const ordered = fc.tuple(range, scalar).map(([operator, value]) => single(operator, value));
    const lists = listOperators(constant, operators(constant, false, path !== 'o', 0));
    const elements: fc.Arbitrary<ObjectValue>[] = deep ? [dataMember(ELEMENT_PATHS, false).map((where) => ({ $elemMatch: where }))] : [];
    return member(
      path,
      constant,
      fc.oneof(tests, ...(path === 'o' || path === 'os.0' || path === 'os' ? [] : [ordered]), lists, ...elements),
    );
  });

const typedMember: fc.Arbitrary<ObjectValue> = oneOf(Object.keys(PROPERTIES).filter((key) => !'goos'.includes(key) || key === 's')).chain(
  (key) => {
    const declaration = PROPERTIES[key] as string;
    const [type = ''] = declaration.split(/\W/);
    const extra: readonly Value[] = type === 'Currency' ? ['5', 50, '-1.5'] : type === 'Integer' ? ['2'] : [];
    const constant = oneOf<Value>([...(SAMPLES[type] as readonly Value[]), ...extra]);
    const ordered = type !== 'ResourceReference';
    const tests = operators(constant, ordered, type === 'String');
    if (!declaration.includes('multi')) return member(key, constant, tests);
    const whole = fc.array(constant, { maxLength: 3 });
    const inner = operators(constant, ordered, type === 'String');
    const at = member(`${key}.0`, constant, tests);
    return fc.oneof(member(key, fc.oneof(constant, whole), fc.oneof(tests, listOperators(fc.oneof(constant), inner))), at);
  },
);

const referenceMember: fc.Arbitrary<ObjectValue> = fc
  .tuple(oneOf(['e.resource', 'es.resource', 'es.resourceId', 'es.0.resource']), oneOf(['types', 'system.types', 'Pump', '/a/b']))
  .map(([path, value]) => ({ [path]: value }));
const currencyMember: fc.Arbitrary<ObjectValue> = fc.oneof(
  oneOf(['m.code', 'ms.code', 'ms.1.code']).map((path) => ({ [path]: 'USD' })),
  fc.tuple(oneOf(['m.value', 'ms.value']), range).map(([path, operator]) => ({ [path]: single(operator, '5') })),
);

export const where: fc.Arbitrary<ObjectValue> = fc.letrec<{ where: ObjectValue }>((tie) => ({
  where: fc.oneof(
    { maxDepth: 3, depthSize: 'small', withCrossShrink: true },
    { weight: 4, arbitrary: typedMember },
    { weight: 4, arbitrary: dataMember(DATA_PATHS, true) },
    { weight: 1, arbitrary: shapeOperators.map((tests) => ({ g: tests })) },
    { weight: 1, arbitrary: fc.oneof(referenceMember, currencyMember) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(oneOf(['$and', '$or', '$nor']), fc.array(tie('where'), { minLength: 1, maxLength: 3 }))
        .map(([operator, terms]) => single(operator, terms)),
    },
    { weight: 2, arbitrary: fc.tuple(tie('where'), tie('where')).map(([a, b]) => ({ ...a, ...b })) },
  ),
})).where;
