// The page's own texts. A language is a file with all keys; the compiler sees to it that none is missing.
import { ar } from './ar.ts';
import { de } from './de.ts';
import { en, type Texts } from './en.ts';

export type { Texts };
export type Text = keyof Texts;

const LANGUAGES = { en, de, ar } as const satisfies Record<string, Texts>;
export type Language = keyof typeof LANGUAGES;

/** Each by its own name. */
export const LANGUAGE_NAMES: Record<Language, string> = { en: 'English', de: 'Deutsch', ar: 'العربية' };
const FROM_RIGHT: ReadonlySet<Language> = new Set(['ar']);

/** A text with its `{0}`, `{1}` replaced. */
export type Say = (text: Text, ...params: (string | number | bigint)[]) => string;

export const isLanguage = (name: string): name is Language => Object.hasOwn(LANGUAGES, name);

/** The first of the person's languages that there is. */
export const chooseLanguage = (wanted: readonly string[]): Language =>
  wanted.map((tag) => tag.toLowerCase().split('-')[0] ?? '').find(isLanguage) ?? 'en';

export const directionOf = (language: Language): 'ltr' | 'rtl' => (FROM_RIGHT.has(language) ? 'rtl' : 'ltr');

export const sayIn =
  (language: Language): Say =>
  (text, ...params) =>
    LANGUAGES[language][text].replace(/\{(\d)\}/g, (all, at: string) => String(params[Number(at)] ?? all));
