// Answers questions from standard input with Java's own formats: one a line, tab-separated `name kind:base64 …`; a line back for each,
// `ok base64` or `error`.
import java.io.*;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.text.*;
import java.util.*;

public class Oracle {
  public static void main(String[] ignored) throws IOException {
    Locale.setDefault(Locale.US);
    TimeZone.setDefault(TimeZone.getTimeZone("UTC"));
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
    for (String line; (line = in.readLine()) != null; ) {
      String[] parts = line.split("\t", -1);
      try {
        Object[] args = new Object[parts.length - 1];
        for (int i = 1; i < parts.length; i++) args[i - 1] = argument(parts[i]);
        String answer = parts[0].equals("format") ? format(args) : parse((String) args[0], (String) args[1]);
        out.println("ok\t" + Base64.getEncoder().encodeToString(answer.getBytes(StandardCharsets.UTF_8)));
      } catch (IllegalArgumentException | ParseException e) {
        out.println("error");
      }
    }
    out.flush();
  }

  static Object argument(String part) {
    int colon = part.indexOf(':');
    String text = new String(Base64.getDecoder().decode(part.substring(colon + 1)), StandardCharsets.UTF_8);
    switch (part.substring(0, colon)) {
      case "integer": return Long.valueOf(text);
      case "real": return Double.valueOf(text);
      case "decimal": return new BigDecimal(text);
      case "date": return new Date(Long.parseLong(text));
      default: return text;
    }
  }

  /** The calendar without its change of 1582, as the language has it. */
  static <T extends Format> T gregorian(T format) {
    if (format instanceof SimpleDateFormat) {
      GregorianCalendar calendar = new GregorianCalendar(TimeZone.getTimeZone("UTC"), Locale.US);
      calendar.setGregorianChange(new Date(Long.MIN_VALUE));
      ((SimpleDateFormat) format).setCalendar(calendar);
    }
    return format;
  }

  static String format(Object[] args) {
    MessageFormat format = new MessageFormat((String) args[0], Locale.US);
    Format[] formats = format.getFormats();
    for (int i = 0; i < formats.length; i++) if (formats[i] != null) format.setFormat(i, gregorian(formats[i]));
    return format.format(Arrays.copyOfRange(args, 1, args.length));
  }

  static String parse(String text, String pattern) throws ParseException {
    SimpleDateFormat format = gregorian(new SimpleDateFormat(pattern, Locale.US));
    format.setLenient(false);
    Date date = format.parse(text, new ParsePosition(0));
    if (date == null) throw new ParseException(text, 0);
    return String.valueOf(date.getTime());
  }
}
