// Texts that are cut to a length, between characters. Without imports, since errors cut the texts that they show, too.

/** Where a text is cut at most there: the first half of a character of two units is not left alone. */
export const wholeUntil = (text: string, at: number): number => (at > 0 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800 ? at - 1 : at);

/** A text of at most so many characters. */
export const cutText = (text: string, most: number): string => (text.length > most ? text.slice(0, wholeUntil(text, most)) : text);
