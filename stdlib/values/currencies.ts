// Amounts of money: the codes of ISO 4217 in force, with XXX and XTS, and reading `CODE:number`.
import { parseDecimal } from './decimals.ts';
import { Currency } from './kinds.ts';

/** In alphabetical order. */
export const CURRENCY_CODES: readonly string[] = (
  'AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW ' +
  'CLF CLP CNY COP COU CRC CUC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HRK ' +
  'HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK ' +
  'MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD ' +
  'SCR SDG SEK SGD SHP SLE SLL SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD USN UYI UYU UYW UZS ' +
  'VED VES VND VUV WST XAF XAG XAU XBA XBB XBC XBD XCD XCG XDR XOF XPD XPF XPT XSU XTS XUA XXX YER ZAR ZMW ZWG ZWL'
).split(' ');
const CODES: ReadonlySet<string> = new Set(CURRENCY_CODES);

export function isCurrencyCode(code: string): boolean {
  return CODES.has(code);
}

/** `USD:12.5` with the scale as written; null for other text and codes not in ISO 4217. */
export function parseCurrency(text: string): Currency | null {
  if (text.charCodeAt(3) !== 58 /* : */ || !CODES.has(text.slice(0, 3))) return null;
  const amount = parseDecimal(text.slice(4));
  return amount && new Currency(text.slice(0, 3), amount);
}
