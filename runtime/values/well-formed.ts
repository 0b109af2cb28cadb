// Is a text one that UTF-8 can carry? BSON and the wire would put U+FFFD in the place of a lone surrogate.

/** Of ES2024; the engine has it, the language's types of today have not. */
interface Checked {
  isWellFormed(): boolean;
}

/** No half of a surrogate pair stands alone in the text. */
export const isWellFormed = (text: string): boolean => (text as unknown as Checked).isWellFormed();
