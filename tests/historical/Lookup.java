import java.util.*;

/** What tests/historical/lookups.py has in Python, for the recorder (tests/historical/record.py). */
public class Lookup {
  static int calls = 0;

  public static class Row {
    private String key; private Integer v; private String label; private int call;
    public Row(String key, Integer v, String label) { this.key = key; this.v = v; this.label = label; this.call = calls; }
    public String getKey() { return key; }
    public Integer getV() { return v; }
    public String getLabel() { return label; }
    public int getCall() { return call; }
  }

  public static Row[] rows(String key, Integer n) {
    calls++;
    if (n == null) return null;
    if (n == -2) throw new IllegalStateException("no such key");
    if (n < 0) return new Row[]{null};
    Row[] out = new Row[n];
    for (int i = 0; i < n; i++) out[i] = new Row(key, i, key + i);
    return out;
  }

  public static Row[] everything() {
    calls++;
    return new Row[]{new Row("A", 1, "A1"), new Row("B", 2, "B2"), new Row("B", 3, "B3")};
  }

  public static Row[] next(Integer v) { calls++; return new Row[]{new Row("n", v + 1, "next"), new Row("m", v + 2, "next")}; }
  public static Row single(String key) { calls++; return key == null ? null : new Row(key, 7, key + "x"); }
  public static Row[] wide(long x) { calls++; return new Row[]{new Row("w" + x, (int) x, "w")}; }
  public static Row[] fraction(double x) { calls++; return new Row[]{new Row("d" + x, 1, "d")}; }
  public static Row[] tally(String... x) { calls++; return new Row[]{new Row("n" + x.length, x.length, "c")}; }
  public static String text(String key) { return key; }
  public static int number(String key) { return 3; }
  public static void nothing(String key) { }
  public static Map[] untyped(String key) { return null; }
}
