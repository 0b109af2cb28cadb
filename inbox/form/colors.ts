// Colours of a payload on a page that is light or dark: kept in hue, moved towards the page's ink until they can be read (WCAG 2: 4.5 to 1).

export type Scheme = 'light' | 'dark';

/** Of the page (style.css has the same). */
export const PAPER: Record<Scheme, string> = { light: '#ffffff', dark: '#12161c' };
const INK: Record<Scheme, string> = { light: '#000000', dark: '#ffffff' };
const READABLE = 4.5;
const STEPS = 20;

type Rgb = readonly [number, number, number];

const rgb = (color: string): Rgb => {
  const value = Number.parseInt(color.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
};
const hex = (parts: Rgb): string => `#${parts.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;

function luminance(color: Rgb): number {
  const [red, green, blue] = color.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

export function contrast(one: string, other: string): number {
  const [bright, dim] = [luminance(rgb(one)), luminance(rgb(other))].sort((a, b) => b - a) as [number, number];
  return (bright + 0.05) / (dim + 0.05);
}

/** @param color `#rrggbb`; anything else is the ink @returns a colour that can be read on the ground */
export function readable(color: string, ground: string): string {
  const ink = contrast(INK.light, ground) > contrast(INK.dark, ground) ? INK.light : INK.dark;
  if (!/^#[0-9a-f]{6}$/i.test(color)) return ink;
  const [from, to] = [rgb(color), rgb(ink)];
  for (let step = 0; step < STEPS; step++) {
    const mixed = hex(from.map((part, at) => part + ((to[at] as number) - part) * (step / STEPS)) as unknown as Rgb);
    if (contrast(mixed, ground) >= READABLE) return mixed;
  }
  return ink;
}
