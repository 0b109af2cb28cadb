// Is a text one that UTF-8 can carry? BSON and the wire would put U+FFFD in the place of a lone surrogate.

/** No half of a surrogate pair stands alone in the text. */
export const isWellFormed = (text: string): boolean => text.isWellFormed();
