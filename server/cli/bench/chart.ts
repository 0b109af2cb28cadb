// Line charts with a logarithmic x axis, as SVG. Names are escaped here.
export interface Line {
  readonly name: string;
  /** Points in ascending order of x; x is above 0. */
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface Axes {
  readonly x: string;
  readonly y: string;
  /** The y axis. `part`: from 0 to 1; `log`: as the x axis. */
  readonly yIs: 'part' | 'log';
  /** A level that is drawn as a horizontal line. */
  readonly mark?: number | undefined;
}

const [WIDTH, HEIGHT] = [640, 340];
const [LEFT, RIGHT, TOP, BOTTOM] = [56, 28, 26, 84];
const NAMES_A_ROW = 3;
const ROW = 20;
const COLOURS = 6;
/** Bound of the points drawn of a line. */
const MOST_POINTS = 400;
/** From here on figures are told in millions. */
const MILLION = 1_000_000;
/** Number of names that fit below the chart. */
const MOST_NAMES = 6;

export function chart(lines: readonly Line[], { x, y, yIs, mark }: Axes): string {
  const all = lines.flatMap(({ points }) => points);
  if (all.length === 0) return '';
  const across = logScale(
    all.map(([at]) => at),
    LEFT,
    WIDTH - RIGHT,
  );
  const up =
    yIs === 'part' ? partScale() : logScale([...all.map(([, at]) => at), ...(mark === undefined ? [] : [mark])], HEIGHT - BOTTOM, TOP);
  const grid = [
    ...across.ticks.map(
      (tick) =>
        `<path d="M${at(across.at(tick))} ${TOP}V${HEIGHT - BOTTOM}" stroke="var(--line)"/>${label(across.at(tick), HEIGHT - BOTTOM + 16, short(tick), 'middle')}`,
    ),
    ...up.ticks.map(
      (tick) =>
        `<path d="M${LEFT} ${at(up.at(tick))}H${WIDTH - RIGHT}" stroke="var(--line)"/>${label(LEFT - 6, up.at(tick) + 4, short(tick), 'end')}`,
    ),
  ];
  const marked =
    mark === undefined ? '' : `<path d="M${LEFT} ${at(up.at(mark))}H${WIDTH - RIGHT}" stroke="var(--bad)" stroke-dasharray="5 4"/>`;
  const drawn = lines.map(({ points }, n) => {
    const path = thinned(points).map(([px, py], i) => `${i === 0 ? 'M' : 'L'}${at(across.at(px))} ${at(up.at(py))}`);
    return `<path d="${path.join('')}" fill="none" stroke="var(--c${n % COLOURS})" stroke-width="1.75"/>`;
  });
  const names = lines.slice(0, MOST_NAMES).map(({ name }, n) => {
    const from = LEFT + (n % NAMES_A_ROW) * ((WIDTH - LEFT) / NAMES_A_ROW);
    const down = HEIGHT - 6 - (n < NAMES_A_ROW ? ROW : 0);
    return `<path d="M${at(from)} ${down - 4}h14" stroke="var(--c${n % COLOURS})" stroke-width="3"/>${label(from + 18, down, name, 'start')}`;
  });
  const units = label(WIDTH - RIGHT, HEIGHT - BOTTOM + 32, x, 'end') + label(2, TOP - 12, y, 'start');
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img">${[...grid, marked, ...drawn, ...names, units].join('')}</svg>`;
}

interface Scale {
  at(value: number): number;
  readonly ticks: readonly number[];
}

/** A scale over the whole powers of ten around the values. */
function logScale(values: readonly number[], from: number, to: number): Scale {
  const [least, most] = values.reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [Number.POSITIVE_INFINITY, 0]);
  const low = Math.floor(Math.log10(least));
  const high = Math.max(low + 1, Math.ceil(Math.log10(most)));
  return {
    at: (value) => from + ((Math.log10(value) - low) / (high - low)) * (to - from),
    ticks: Array.from({ length: high - low + 1 }, (_, n) => 10 ** (low + n)),
  };
}

const partScale = (): Scale => ({ at: (part) => HEIGHT - BOTTOM - part * (HEIGHT - BOTTOM - TOP), ticks: [0, 0.25, 0.5, 0.75, 1] });

const thinned = <T>(points: readonly T[]): readonly T[] => {
  const step = Math.ceil(points.length / MOST_POINTS);
  return points.filter((_, n) => n % step === 0 || n === points.length - 1);
};

const at = (value: number): string => value.toFixed(1);
const short = (value: number): string =>
  value >= MILLION
    ? `${Number((value / MILLION).toPrecision(3)).toLocaleString('en')} M`
    : Number(value.toPrecision(3)).toLocaleString('en', { maximumFractionDigits: 3 });
const label = (x: number, y: number, text: string, anchor: 'start' | 'middle' | 'end'): string =>
  `<text x="${at(x)}" y="${at(y)}" text-anchor="${anchor}">${text.replace(/&/g, '&amp;').replace(/</g, '&lt;')}</text>`;
