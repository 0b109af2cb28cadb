// What every view may ask for: texts in the person's language, the page's colours, and what a form needs from around it.
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { PAPER, readable, type Scheme } from '../form/colors.ts';
import type { Language, Say } from '../texts/index.ts';

/** What a form keeps and reads beside its values. */
export interface FormServices {
  keepMedium(name: string, blob: Blob): Promise<void>;
  /** A recording of this device; null: there is none. */
  medium(name: string): Promise<Blob | null>;
  /** A document of the service. @throws Error: it cannot be read */
  documentBytes(name: string): Promise<Blob>;
  /** @param tab a category; '' for all */
  openDashboard(tab: string): void;
}

export interface Ui {
  readonly say: Say;
  readonly language: Language;
  readonly scheme: Scheme;
  readonly services: FormServices;
}

export const UiContext = createContext<Ui | null>(null);

export function useUi(): Ui {
  const ui = useContext(UiContext);
  if (!ui) throw new Error('no context');
  return ui;
}

/** A colour of a payload as it can be read on the page. Black is what a payload says by default: it is the page's ink. */
export const inkOf = (color: string, scheme: Scheme): string | undefined =>
  color === '' || color === '#000000' ? undefined : readable(color, PAPER[scheme]);
