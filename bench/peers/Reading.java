// The events of `npm run bench -- rules`, as the peers on the Java machine take them.
package peers;

public final class Reading {
  private final String sensor;
  private final double rate;
  private final int pressure;
  private final String site = "north";
  private final String unit = "bar";
  private final boolean ok = true;
  private final int line;
  private final int batch;
  private final String shift = "late";
  private final String note = "regular reading";

  public Reading(int i, int sensors) {
    sensor = "s" + i % sensors;
    rate = i % 100 + 0.5;
    pressure = i % 7;
    line = i % 3;
    batch = i;
  }

  public String getSensor() { return sensor; }
  public double getRate() { return rate; }
  public int getPressure() { return pressure; }
  public String getSite() { return site; }
  public String getUnit() { return unit; }
  public boolean isOk() { return ok; }
  public int getLine() { return line; }
  public int getBatch() { return batch; }
  public String getShift() { return shift; }
  public String getNote() { return note; }
}
