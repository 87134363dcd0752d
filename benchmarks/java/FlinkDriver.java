import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.DoubleType;
import org.apache.flink.table.types.logical.IntType;
import org.apache.flink.table.types.logical.LocalZonedTimestampType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.VarCharType;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.RandomAccessFile;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Flink SQL in a local mini cluster, one slot, behind the line protocol of EsperDriver (no "heap").
 * A job is bounded and starts without state, so that "run FIRST LAST" is the difference between the jobs over the events 0 … LAST - 1 and
 * 0 … FIRST - 1. The rows come from columns in memory; a map behind the query reads two columns of every row that is inserted or updated.
 */
public final class FlinkDriver {
    static ByteBuffer symbols, prices, volumes;
    static StringData[] names;
    static String sql, nameOne, nameTwo;
    static char modeOne, modeTwo;
    static long rows, wholeOne, wholeTwo;
    static double realOne, realTwo;

    static final class Events implements MapFunction<Long, RowData> {
        @Override
        public RowData map(Long number) {
            int row = number.intValue();
            GenericRowData made = new GenericRowData(5);
            made.setField(0, names[symbols.getInt(4 * row)]);
            made.setField(1, prices.getDouble(8 * row));
            made.setField(2, volumes.getInt(4 * row));
            made.setField(3, row + 1L);
            made.setField(4, TimestampData.fromEpochMillis(row + 1));
            return made;
        }
    }

    static final class Listener implements MapFunction<Row, Row> {
        @Override
        public Row map(Row row) {
            if (row.getKind() != RowKind.INSERT && row.getKind() != RowKind.UPDATE_AFTER) return row;
            rows++;
            Object one = row.getField(nameOne), two = row.getField(nameTwo);
            if (modeOne == 'w') wholeOne += ((Number) one).longValue();
            else if (modeOne != 't') realOne += (Double) one;
            if (modeTwo == 'w') wholeTwo += ((Number) two).longValue();
            else if (modeTwo != 't') realTwo += (Double) two;
            return row;
        }
    }

    /** CPU ns of the process, wall ns, rows, sum one, sum two of the job over the events before last. */
    static double[] job(long last) throws Exception {
        rows = wholeOne = wholeTwo = 0;
        realOne = realTwo = 0;
        if (last == 0) return new double[5];
        Configuration configuration = new Configuration();
        configuration.setString("pipeline.object-reuse", "true");
        configuration.setString("rest.bind-port", "0");
        StreamExecutionEnvironment environment = StreamExecutionEnvironment.createLocalEnvironment(1, configuration);
        StreamTableEnvironment tables = StreamTableEnvironment.create(environment);
        RowType type = RowType.of(
            new LogicalType[]{new VarCharType(VarCharType.MAX_LENGTH), new DoubleType(), new IntType(), new BigIntType(), new LocalZonedTimestampType(3)},
            new String[]{"symbol", "price", "volume", "ts", "rt"});
        DataStream<RowData> events = environment
            .fromSource(new NumberSequenceSource(0, last - 1), WatermarkStrategy.noWatermarks(), "events")
            .map(new Events()).returns(InternalTypeInfo.of(type));
        tables.createTemporaryView("Trade", events, Schema.newBuilder()
            .column("symbol", DataTypes.STRING()).column("price", DataTypes.DOUBLE()).column("volume", DataTypes.INT())
            .column("ts", DataTypes.BIGINT()).column("rt", DataTypes.TIMESTAMP_LTZ(3)).watermark("rt", "rt").build());
        tables.toChangelogStream(tables.sqlQuery(sql)).map(new Listener()).sinkTo(new DiscardingSink<>());
        com.sun.management.OperatingSystemMXBean system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        long cpu = system.getProcessCpuTime(), wall = System.nanoTime();
        environment.execute();
        wall = System.nanoTime() - wall;
        cpu = system.getProcessCpuTime() - cpu;
        return new double[]{cpu, wall, rows, modeOne == 'w' ? wholeOne : realOne, modeTwo == 'w' ? wholeTwo : realTwo};
    }

    static String run(long first, long last) throws Exception {
        double[] before = job(first), all = job(last);
        long process = (long) (all[0] - before[0]);
        return "ok " + process + " " + process + " " + (long) (all[1] - before[1]) + " " + (long) (all[2] - before[2])
            + " " + sum(modeOne, all[3] - before[3]) + " " + sum(modeTwo, all[4] - before[4]);
    }

    static String sum(char mode, double value) {
        return mode == 'w' || mode == 't' ? Long.toString((long) value) : Double.toString(value);
    }

    static ByteBuffer map(String folder, String name) throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(Path.of(folder, name).toFile(), "r")) {
            return file.getChannel().map(FileChannel.MapMode.READ_ONLY, 0, file.length()).order(ByteOrder.LITTLE_ENDIAN);
        }
    }

    static StringData[] names() {
        int most = 0;
        for (int row = 0; row < symbols.capacity() / 4; row++) most = Math.max(most, symbols.getInt(4 * row));
        StringData[] names = new StringData[most + 1];
        for (int k = 0; k <= most; k++) names[k] = StringData.fromString("S" + k);
        return names;
    }

    public static void main(String[] arguments) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.equals("quit"); line = in.readLine()) {
            String[] words = line.split("\t");
            String answer = "ok";
            try {
                switch (words[0]) {
                    case "data":
                        symbols = map(words[1], "symbol.i32");
                        prices = map(words[1], "price.f64");
                        volumes = map(words[1], "volume.i32");
                        names = names();
                        break;
                    case "open":
                        sql = Files.readString(Path.of(words[1]));
                        nameOne = words[4];
                        modeOne = words[5].charAt(0);
                        nameTwo = words[6];
                        modeTwo = words[7].charAt(0);
                        break;
                    case "run": answer = run(Long.parseLong(words[1]), Long.parseLong(words[2])); break;
                    case "close": break;
                    default: answer = "error unknown command " + words[0];
                }
            } catch (Exception | LinkageError failure) {
                answer = "error " + failure.toString().replace('\n', ' ');
            }
            System.out.println(answer);
            System.out.flush();
        }
        System.exit(0);
    }
}
