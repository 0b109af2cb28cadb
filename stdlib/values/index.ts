// The door of the values: one JavaScript model of the language's values, their texts and their borders.
export { Binary } from './binary.ts';
export { decodeUtf8, encodeUtf8, fromBase64, toBase64, toHex } from './bytes.ts';
export { civilFromDays, DAY_MS, daysFromCivil, daysInMonth, formatDateTime, isLeapYear } from './calendar.ts';
export { CURRENCY_CODES, isCurrencyCode, parseCurrency } from './currencies.ts';
export { dateTimeOf, parseDateTime } from './date-times.ts';
export { failDeep, MAX_DATA_DEPTH, MAX_DEPTH } from './depth.ts';
export {
  addDecimals,
  compareDecimals,
  decimal,
  decimalOfNumber,
  divideDecimals,
  MAX_DIGITS,
  multiplyDecimals,
  negateDecimal,
  parseDecimal,
  rescale,
  significantDigits,
} from './decimals.ts';
export { decodeInner, encodeInner, encodeStatement, encodeShared, fromInner, INNER_MARK, isPlainInner } from './inner-json.ts';
export { checkedString, MAX_STRING, stringify } from './json.ts';
export { parseJsonText } from './json-parse.ts';
export { type JsonBounds, JsonProblem, JsonReader, type JsonReading, readJson } from './json-reader.ts';
export { Currency, DateTime, Decimal, type Lambda, LocalValue, type ObjectValue, Real, type Value } from './kinds.ts';
export { integer, isInteger, isNumber, isReal, MAX_INTEGER, MIN_INTEGER, numberOf, parseInteger, parseReal, real } from './numbers.ts';
export { deepCopy, deepCopyCounted, getOwn, isObject, isReference, MAX_ELEMENTS, setOwn } from './objects.ts';
export type { Patience } from './backtracking/index.ts';
export { type Match, Pattern, type SearchBounds, stepsFor } from './pattern.ts';
export { formatReal } from './real-text.ts';
export { originalOf, pictureOf, Shared, type SharedKind } from './shared.ts';
export { cutText, wholeUntil } from './cut-text.ts';
export { shown, shownAll, VALUE_WEIGHT } from './shown.ts';
export { codePointsWithin, compareCodeUnits, text, typeOf } from './text.ts';
export { withoutTrailing } from './trailing.ts';
export { XmlDocument, XmlElement, XmlList, XmlNode } from './xml.ts';
export { parseXml, parseXmlDocumentInPieces } from './xml-parse.ts';
