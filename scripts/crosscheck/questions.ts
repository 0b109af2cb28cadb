/* oxlint-disable max-lines -- a list */
// Random questions to the built-ins, in the areas for which an independent implementation is at hand: what is called here, and what the other
// side is to do with the same arguments. All draws come from one seed.
import { DateTime, integer, parseDecimal, real, type Value } from '../../stdlib/values/index.ts';

export type Argument =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'integer' | 'real' | 'decimal'; readonly text: string }
  | { readonly kind: 'date'; readonly ms: number };

export interface Question {
  readonly area: string;
  /** Who knows the answer. */
  readonly oracle: 'java' | 'python';
  /** The built-in and its arguments. */
  readonly name: string;
  readonly args: readonly Argument[];
}

/** Deterministic: the same seed asks the same questions. */
export class Dice {
  #state: number;
  constructor(seed: number) {
    this.#state = seed >>> 0;
  }
  /** Uniform in 0 ≤ r < 1 (mulberry32). */
  real(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let z = this.#state;
    z = Math.imul(z ^ (z >>> 15), z | 1);
    z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
    return ((z ^ (z >>> 14)) >>> 0) / 2 ** 32;
  }
  below(n: number): number {
    return Math.floor(this.real() * n);
  }
  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }
  chance(p: number): boolean {
    return this.real() < p;
  }
  times<T>(least: number, most: number, make: () => T): T[] {
    return Array.from({ length: least + this.below(most - least + 1) }, make);
  }
}

/** The argument as the language has it. */
export function valueOf(argument: Argument): Value {
  if (argument.kind === 'text') return argument.text;
  if (argument.kind === 'date') return new DateTime(argument.ms);
  if (argument.kind === 'integer') return integer(BigInt(argument.text));
  return argument.kind === 'real' ? real(Number(argument.text)) : parseDecimal(argument.text);
}

const text = (value: string): Argument => ({ kind: 'text', text: value });
const whole = (value: number | bigint): Argument => ({ kind: 'integer', text: String(value) });
const date = (ms: number): Argument => ({ kind: 'date', ms });

const YEAR_1000 = -30_610_224_000_000;
const YEAR_1 = -62_135_596_800_000;
const YEAR_9999 = 253_402_300_799_999;

function anyReal(dice: Dice): string {
  const digits = dice.pick([1, 2, 3, 5, 9, 17]);
  const value = (dice.real() - 0.5) * 2 * 10 ** (dice.below(24) - 8);
  const ties = (dice.below(200_000) - 100_000) / dice.pick([2, 4, 8, 100, 1000]);
  const chosen = dice.chance(0.3) ? ties : Number(value.toPrecision(digits));
  return Number.isInteger(chosen) ? chosen.toFixed(1) : String(chosen);
}

function anyInteger(dice: Dice): bigint {
  const size = 10n ** BigInt(dice.below(19));
  const value = BigInt(Math.floor(dice.real() * 1e15)) * (size / 10n ** 15n || 1n) + BigInt(dice.below(1000));
  const bounded = value > 9_223_372_036_854_775_807n ? 9_223_372_036_854_775_807n : value;
  return dice.chance(0.4) ? -bounded : bounded;
}

function anyDecimal(dice: Dice): string {
  const digits = dice.times(1, 20, () => String(dice.below(10))).join('');
  const scale = dice.below(digits.length);
  const unsigned = scale === 0 ? digits : `${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
  return (dice.chance(0.4) ? '-' : '') + unsigned;
}

/** Java prints the shortest digits of a Real, the language rounds its exact value: with few digits that is the same. */
function fewDigits(dice: Dice): string {
  const value = Number(Number(anyReal(dice)).toPrecision(12));
  return Math.abs(value) > 1e-3 && Math.abs(value) < 1e6 ? value.toExponential() : '0.125';
}

const anyNumber = (dice: Dice): Argument =>
  dice.pick<() => Argument>([
    () => ({ kind: 'real', text: fewDigits(dice) }),
    () => whole(anyInteger(dice)),
    () => ({ kind: 'decimal', text: anyDecimal(dice) }),
  ])();

const CHARACTERS = [
  'a',
  'B',
  '7',
  ' ',
  '&',
  '=',
  '/',
  '?',
  '%',
  '+',
  '~',
  '*',
  '-',
  '_',
  '.',
  'é',
  'ß',
  '中',
  '😀',
  '\n',
  '"',
  "'",
  '<',
  '\u0000',
  '\uffff',
];
const anyText = (dice: Dice, most = 40): string => dice.times(0, most, () => dice.pick(CHARACTERS)).join('');

const anyDate = (dice: Dice, from = YEAR_1, to = YEAR_9999): number => {
  const ms = Math.floor(from + dice.real() * (to - from));
  return dice.chance(0.3) ? Math.floor(ms / 86_400_000) * 86_400_000 : ms;
};

/** As programs write them: prefix, grouping, fraction, exponent, suffix, now and then something odd. */
function numberPattern(dice: Dice): string {
  const part = (): string => {
    const whole = dice.pick(['#', '0', '00', '#0', '#,##0', '#,###', '#,##,##0', '##0', '0,000', '']);
    const fraction = dice.pick(['', '', '.0', '.00', '.#', '.###', '.0##', '.000000', '.']);
    const suffix = dice.pick(['', '', '', '%', '‰', ')', ' kg', " '0'", '-']);
    const exponent = dice.chance(0.15) && whole !== '' && !whole.includes(',') && !/[%‰]/.test(suffix) ? dice.pick(['E0', 'E00', 'E']) : '';
    return `${dice.pick(['', '', '', '$', 'a ', "'#'", "''", '(', '¤'])}${whole}${fraction}${exponent}${suffix}`;
  };
  const positive = part();
  return dice.chance(0.2)
    ? `${positive};${dice.pick(['(', '-', 'minus ', "'-'"])}${dice.pick(['0', '#,##0.00', '#'])}${dice.pick([')', '', ' CR'])}`
    : positive;
}

const DATE_LETTERS = [
  'y',
  'yy',
  'yyyy',
  'Y',
  'YY',
  'YYYY',
  'M',
  'MM',
  'MMM',
  'MMMM',
  'L',
  'LL',
  'w',
  'ww',
  'W',
  'D',
  'DDD',
  'd',
  'dd',
  'F',
  'E',
  'EEE',
  'EEEE',
  'u',
  'a',
  'H',
  'HH',
  'k',
  'kk',
  'K',
  'KK',
  'h',
  'hh',
  'm',
  'mm',
  's',
  'ss',
  'S',
  'SS',
  'SSS',
  'SSSSS',
  'z',
  'zzzz',
  'Z',
  'X',
  'XX',
  'XXX',
  'G',
];
const datePattern = (dice: Dice): string =>
  dice.times(1, 8, () => dice.pick([...DATE_LETTERS, ...DATE_LETTERS, "'at'", "''", 'b', '#'])).join(dice.pick([' ', '-', ':', '/', ', ']));

const PARSED = [
  'yyyy-MM-dd',
  'dd/MM/yyyy',
  'd.M.yy',
  'yyyy-MM-dd HH:mm:ss',
  'h:mm a',
  'd MMM yyyy',
  'MMMM d, yyyy',
  'EEE, d MMM yyyy HH:mm:ss Z',
  "yyyy-MM-dd'T'HH:mm:ss.SSSXXX",
  'D yyyy',
  'HH:mm',
  'k:mm',
  'K:mm a',
];
function parsedText(dice: Dice): string {
  const two = (n: number): string => String(n).padStart(2, '0');
  const [y, m, d, h, s] = [1970 + dice.below(130), 1 + dice.below(13), 1 + dice.below(32), dice.below(25), dice.below(61)];
  const month = dice.pick(['Jan', 'Feb', 'Sep', 'Dec', 'January', 'march', 'Smarch']);
  return dice.pick([
    `${y}-${two(m)}-${two(d)}`,
    `${two(d)}/${two(m)}/${y}`,
    `${d}.${m}.${two(y % 100)}`,
    `${y}-${two(m)}-${two(d)} ${two(h)}:${two(s)}:${two(s)}`,
    `${h % 14}:${two(s)} ${dice.pick(['AM', 'PM', 'am', 'XM'])}`,
    `${d} ${month} ${y}`,
    `${month} ${d}, ${y}`,
    `Mon, ${d} ${month} ${y} ${two(h)}:${two(s)}:${two(s)} ${dice.pick(['+0100', '-0930', '+0000', 'GMT'])}`,
    `${y}-${two(m)}-${two(d)}T${two(h)}:${two(s)}:${two(s)}.${dice.pick(['007', '120', '999'])}${dice.pick(['Z', '+02:00', '-11:30'])}`,
    `${1 + dice.below(370)} ${y}`,
    `${two(h)}:${two(s)}`,
  ]);
}

function messagePattern(dice: Dice): string {
  const piece = (): string =>
    dice.pick<() => string>([
      () => dice.pick(['a', ' b ', "it''s", "'{0}'", "'", '}', 'é😀', '#']),
      () => `{${dice.below(4)}}`,
      () => `{${dice.below(3)},number}`,
      () => `{${dice.below(3)},number,${dice.pick(['integer', 'percent', '#.##', '0.0', ' 0', 'currency'])}}`,
      () => `{${dice.below(3)},${dice.pick(['bogus', 'Number', ' number '])}}`,
      () => dice.pick(['{x}', '{-1}']),
      () => `{0,choice,${dice.pick(['0#none|1#one|1<many {0}', '-1#minus|0#zero|5#five', '0.5#half|1≤one', '1#a|0#b', 'x#y'])}}`,
    ])();
  // Java forgives a `{` that is never closed when another stands inside it: it is asked only about single ones.
  if (dice.chance(0.03)) return dice.pick(['{', 'a {0', '{0,number']);
  // Most pieces of a pattern are right ones, or hardly any pattern would be.
  return dice
    .times(1, 5, () => (dice.chance(0.75) ? dice.pick(['a ', '{0}', '{1}', "''", '{0,number}', '{1,number,#.##}', 'é']) : piece()))
    .join('');
}

const ISO = (dice: Dice): string => {
  const two = (n: number): string => String(n).padStart(2, '0');
  const day = `${1000 + dice.below(2000)}-${two(dice.below(14))}-${two(dice.below(33))}`;
  if (dice.chance(0.3)) return day;
  const time = `${two(dice.below(25))}:${two(dice.below(61))}${dice.pick(['', `:${two(dice.below(61))}`, `:${two(dice.below(60))}.${dice.below(1000)}`])}`;
  return `${day}T${time}${dice.pick(['', 'Z', '+02:00', '-0930', '+05'])}`;
};

const UNITS = ['MILLIS', 'SECONDS', 'MINUTES', 'HOURS', 'HALF_DAYS', 'DAYS'];
const PARTS = [
  'getMilliseconds',
  'getSeconds',
  'getMinutes',
  'getHours',
  'getDate',
  'getMonth',
  'getFullYear',
  'getDay',
  'week',
  'HoW',
  'MoW',
  'DoY',
  'MoD',
  'SoD',
  'SoH',
];
const ZONES = [
  'Europe/Paris',
  'America/New_York',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'America/St_Johns',
  'UTC',
  'Asia/Kathmandu',
  'America/Los_Angeles',
  'Pacific/Apia',
];

/** Each area with how one question of it is made, and its share. */
const AREAS: readonly { area: string; oracle: Question['oracle']; share: number; make: (dice: Dice) => Pick<Question, 'name' | 'args'> }[] =
  [
    {
      area: 'number patterns',
      oracle: 'java',
      share: 5,
      make: (dice) => {
        const pattern = numberPattern(dice);
        const number = anyNumber(dice);
        // With an exponent, Java rounds ties of whole Reals up (it takes their digits for inexact), those of Decimals to even.
        const isWhole = number.kind === 'real' && Number.isInteger(Number(number.text));
        const asked =
          isWhole && pattern.includes('E') ? { ...number, kind: 'decimal' as const, text: String(Number(number.text)) } : number;
        return { name: 'format', args: [text(`{0,number,${pattern}}`), asked] };
      },
    },
    {
      area: 'date patterns',
      oracle: 'java',
      share: 4,
      make: (dice) => ({ name: 'format', args: [text(`{0,date,${datePattern(dice)}}`), date(anyDate(dice))] }),
    },
    {
      area: 'date styles',
      oracle: 'java',
      share: 1,
      make: (dice) => ({
        name: 'format',
        args: [
          text(`{0,${dice.pick(['date', 'time'])},${dice.pick(['short', 'medium', 'long', 'full'])}}`),
          date(anyDate(dice, YEAR_1000)),
        ],
      }),
    },
    {
      area: 'messages',
      oracle: 'java',
      share: 4,
      make: (dice) => ({
        name: 'format',
        args: [text(messagePattern(dice)), ...dice.times(0, 3, () => (dice.chance(0.6) ? anyNumber(dice) : text(anyText(dice, 5))))],
      }),
    },
    {
      area: 'parseDate',
      oracle: 'java',
      share: 3,
      make: (dice) => ({ name: 'parseDate', args: [text(parsedText(dice)), text(dice.pick(PARSED))] }),
    },
    {
      area: 'digests',
      oracle: 'python',
      share: 2,
      make: (dice) => ({ name: `Hash.${dice.pick(['md5', 'sha1', 'sha256', 'sha384', 'sha512'])}`, args: [text(anyText(dice, 300))] }),
    },
    {
      area: 'HMACs',
      oracle: 'python',
      share: 1,
      make: (dice) => ({
        name: `Hash.${dice.pick(['hmacSha1', 'hmacSha256', 'hmacSha512'])}`,
        args: [text(`k${anyText(dice, 200)}`), text(anyText(dice, 200))],
      }),
    },
    { area: 'base64', oracle: 'python', share: 1, make: (dice) => ({ name: 'Encode.base64', args: [text(anyText(dice, 80))] }) },
    {
      area: 'URIs',
      oracle: 'python',
      share: 1,
      make: (dice) => ({ name: dice.pick(['encodeUri', 'encodeUriComponent']), args: [text(anyText(dice))] }),
    },
    {
      area: 'toDecimal',
      oracle: 'python',
      share: 3,
      make: (dice) => ({
        name: 'toDecimal',
        args: [
          dice.chance(0.5)
            ? text(dice.chance(0.1) ? anyText(dice, 4) : `${anyDecimal(dice)}${dice.pick(['', '', 'e3', 'E-2'])}`)
            : anyNumber(dice),
          whole(dice.below(12)),
        ],
      }),
    },
    {
      area: 'text of Reals',
      oracle: 'python',
      share: 3,
      make: (dice) => ({ name: 'toString', args: [{ kind: 'real', text: anyReal(dice) }] }),
    },
    { area: 'toDate', oracle: 'python', share: 3, make: (dice) => ({ name: 'toDate', args: [text(ISO(dice))] }) },
    { area: 'parts of dates', oracle: 'python', share: 3, make: (dice) => ({ name: dice.pick(PARTS), args: [date(anyDate(dice))] }) },
    {
      area: 'truncateTo',
      oracle: 'python',
      share: 1,
      make: (dice) => ({ name: 'truncateTo', args: [date(anyDate(dice)), text(dice.pick(UNITS))] }),
    },
    {
      area: 'addMonth',
      oracle: 'python',
      share: 1,
      make: (dice) => ({
        name: 'addMonth',
        args: [date(anyDate(dice, Date.UTC(1900, 0, 1), Date.UTC(2100, 0, 1))), whole(dice.below(100) - 50)],
      }),
    },
    {
      area: 'time zones',
      oracle: 'python',
      share: 1,
      make: (dice) => ({
        name: 'timezoneOffset',
        args: [text(dice.pick(ZONES)), date(anyDate(dice, Date.UTC(1972, 0, 1), Date.UTC(2024, 0, 1)))],
      }),
    },
  ];

/** `count` questions by the areas' shares, at least one of each. */
export function questions(seed: number, count: number): Question[] {
  const dice = new Dice(seed);
  const shares = AREAS.reduce((sum, { share }) => sum + share, 0);
  return AREAS.flatMap(({ area, oracle, share, make }) =>
    Array.from({ length: Math.max(1, Math.ceil((count * share) / shares)) }, () => ({ area, oracle, ...make(dice) })),
  );
}
